// What goes between Python and the kernel: features, pairs and weights in, exact ints out.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "kernel/bigint.hpp"
#include "kernel/features.hpp"

namespace contextwise {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;
using Model = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<u64>>;

inline FeatureArrays arrays_of(const Model& model) {
  const auto& [starts, variables, values] = model;
  return {starts.data(), variables.data(), values.data(),
          static_cast<std::size_t>(starts.size() - 1), static_cast<std::size_t>(values.shape(1))};
}

// Integers as rows of words, the lowest first.
inline std::vector<Natural> naturals_of(const Array<u64>& rows) {
  std::vector<Natural> result;
  if (rows.ndim() != 2) return result;
  const auto width = static_cast<std::size_t>(rows.shape(1));
  for (py::ssize_t k = 0; k < rows.shape(0); ++k)
    result.emplace_back(std::span<const u64>(rows.data(k, 0), width));
  return result;
}

// Exact numbers as ints. Numbers recur from pair to pair (all contexts, none): the last few are
// kept.
class Integers {
 public:
  PyObject* of(const Natural& value) {
    for (const auto& [known, made] : last_)
      if (made && *known == value) return made.inc_ref().ptr();
    auto& [known, made] = last_[next_++ % last_.size()];
    known = &value;
    made = py::reinterpret_steal<py::object>(fresh(value));
    return made.inc_ref().ptr();
  }

 private:
  PyObject* fresh(const Natural& value) {
    if (value.words().size() <= 1)
      return checked(PyLong_FromUnsignedLongLong(value.is_zero() ? 0 : value.words()[0]));
    if constexpr (std::endian::native == std::endian::little)
      return from_bytes(reinterpret_cast<const unsigned char*>(value.words().data()),
                        8 * value.words().size());
    std::vector<unsigned char> bytes;
    for (u64 word : value.words())
      for (int k = 0; k < 8; ++k) bytes.push_back(static_cast<unsigned char>(word >> 8 * k));
    return from_bytes(bytes.data(), bytes.size());
  }
  static PyObject* from_bytes(const unsigned char* bytes, std::size_t count) {
#if PY_VERSION_HEX >= 0x030d0000
    return checked(PyLong_FromUnsignedNativeBytes(bytes, count, Py_ASNATIVEBYTES_LITTLE_ENDIAN));
#else
    return checked(_PyLong_FromByteArray(bytes, count, 1, 0));
#endif
  }
  static PyObject* checked(PyObject* made) {
    if (!made) throw py::error_already_set();
    return made;
  }

  std::array<std::pair<const Natural*, py::object>, 4> last_;
  std::size_t next_ = 0;
};

inline py::object integer(const Natural& value) {
  return py::reinterpret_steal<py::object>(Integers().of(value));
}

// A table of ints; `make` gives the new reference of the one in a row and a column.
template <class Make>
py::array table_of(std::size_t rows, std::size_t columns, Make make) {
  py::array table(py::dtype("O"), std::vector<py::ssize_t>{static_cast<py::ssize_t>(rows),
                                                           static_cast<py::ssize_t>(columns)});
  auto** cell = static_cast<PyObject**>(table.mutable_data());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      Py_XDECREF(*cell);
      *cell++ = make(row, column);
    }
  return table;
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

inline std::vector<Pair> pairs_of(const Array<std::int64_t>& pairs) {
  std::vector<Pair> result;
  result.reserve(static_cast<std::size_t>(pairs.shape(0)));
  const std::int64_t* const flat = pairs.data();
  for (py::ssize_t k = 0; k < pairs.shape(0); ++k)
    result.push_back({static_cast<u32>(flat[2 * k]), static_cast<u32>(flat[2 * k + 1])});
  return result;
}

}  // namespace contextwise

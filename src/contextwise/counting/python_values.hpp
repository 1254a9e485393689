// Conversions between Python and the kernel: features, pairs and weights in, exact ints out.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../python_arrays.hpp"
#include "kernel/bigint.hpp"
#include "kernel/features.hpp"

namespace contextwise {

using Model = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<u64>,
                         std::optional<Array<std::int32_t>>>;

inline FeatureArrays arrays_of(const Model& model) {
  const auto& [starts, variables, values, pairs] = model;
  return {starts.data(),     variables.data(), values.data(),
          starts.size() - 1, values.shape(1),  pairs ? pairs->data() : nullptr};
}

// Reads integers from rows of words, lowest word first.
inline std::vector<Natural> naturals_of(const Array<u64>& rows) {
  std::vector<Natural> result;
  if (rows.ndim() != 2) return result;
  const std::size_t width = rows.shape(1);
  for (std::size_t k = 0; k < rows.shape(0); ++k)
    result.emplace_back(std::span<const u64>(rows.data() + k * width, width));
  return result;
}

inline std::vector<Pair> pairs_of(const Array<std::int64_t>& pairs) {
  std::vector<Pair> result;
  result.reserve(pairs.shape(0));
  const std::int64_t* const flat = pairs.data();
  for (std::size_t k = 0; k < pairs.shape(0); ++k)
    result.push_back({static_cast<u32>(flat[2 * k]), static_cast<u32>(flat[2 * k + 1])});
  return result;
}

// Makes Python ints. The same numbers (all contexts, none) recur from pair to pair, so the last few
// are cached.
class Integers {
 public:
  nb::int_ of(const Natural& value) {
    for (const auto& [number, made] : last_)
      if (made.is_valid() && *number == value) return made;
    auto& [number, made] = last_[next_++ % last_.size()];
    number = &value;
    made = nb::steal<nb::int_>(fresh(value));
    return made;
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
  // Neither function is part of the stable ABI of Python 3.12.
  static PyObject* from_bytes(const unsigned char* bytes, std::size_t count) {
#if PY_VERSION_HEX >= 0x030d0000
    return checked(PyLong_FromUnsignedNativeBytes(bytes, count, Py_ASNATIVEBYTES_LITTLE_ENDIAN));
#else
    return checked(_PyLong_FromByteArray(bytes, count, 1, 0));
#endif
  }
  static PyObject* checked(PyObject* made) {
    if (!made) throw nb::python_error();
    return made;
  }

  std::array<std::pair<const Natural*, nb::int_>, 4> last_;
  std::size_t next_ = 0;
};

inline nb::int_ integer(const Natural& value) { return Integers().of(value); }

// A table of Python ints.
using IntegerTable = NewArray<PyObject*>;

// Makes a table of `make(row, column)`.
template <class Make>
IntegerTable table_of(std::size_t rows, std::size_t columns, Make make) {
  return IntegerTable(nb::make_tuple(rows, columns), [&](PyObject** cell) {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column, ++cell) {
        PyObject* const before = std::exchange(*cell, make(row, column).release().ptr());
        Py_XDECREF(before);
      }
  });
}

using Progress = std::function<void(std::size_t)>;

// Reports progress. Returns false after Ctrl-C, even if it arrives during the report.
inline bool report(const Progress& progress, std::size_t done) {
  const nb::gil_scoped_acquire acquire;
  try {
    check_signals();
    if (progress) progress(done);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    return false;
  }
  return true;
}

// Runs a counter and reports its progress. Returns whether Ctrl-C ended the work.
template <class Counter>
bool run_counter(Counter& counter, const Progress& progress) {
  bool interrupted = false;
  counter.run([&](std::size_t done) {
    interrupted = !report(progress, done);
    return !interrupted;
  });
  return interrupted;
}

}  // namespace contextwise

// Conversions between NumPy arrays and C++ that all compiled modules share.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace contextwise {

namespace nb = nanobind;

// A NumPy array to read, in C order. An array of another type or order is copied into one.
template <class T>
using Array = nb::ndarray<const T, nb::numpy, nb::c_contig, nb::device::cpu>;

// New NumPy arrays to return.
template <class T>
using Vector = nb::ndarray<T, nb::numpy, nb::ndim<1>>;
template <class T>
using Matrix = nb::ndarray<T, nb::numpy, nb::ndim<2>>;

// Returns the values as a NumPy array, without a copy.
template <class T>
Vector<T> array_of(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Vector<T>(kept->data(), {kept->size()}, owner);
}
template <class T>
Matrix<T> array_of(std::vector<T> values, std::size_t rows, std::size_t columns) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Matrix<T>(kept->data(), {rows, columns}, owner);
}

// Throws the exception that a signal handler raised, such as that of Ctrl-C. The caller need not
// hold the GIL.
inline void check_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace contextwise

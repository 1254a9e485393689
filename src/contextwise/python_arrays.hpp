// Conversions between Python and C++ that all compiled modules share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace contextwise {

namespace nb = nanobind;

// A NumPy array to read, in C order. An array of another type or order is copied into one.
template <class T>
using Array = nb::ndarray<const T, nb::numpy, nb::c_contig, nb::device::cpu>;

// How NumPy names the type of an item.
template <class T>
inline constexpr auto NUMPY_NAME = nb::detail::const_name("object_");
template <>
inline constexpr auto NUMPY_NAME<bool> = nb::detail::const_name("bool_");
template <>
inline constexpr auto NUMPY_NAME<double> = nb::detail::const_name("float64");
template <>
inline constexpr auto NUMPY_NAME<std::int32_t> = nb::detail::const_name("int32");
template <>
inline constexpr auto NUMPY_NAME<std::int64_t> = nb::detail::const_name("int64");
template <>
inline constexpr auto NUMPY_NAME<std::uint64_t> = nb::detail::const_name("uint64");

// A new NumPy array to return; its items are PyObject* if it holds Python objects.
template <class T>
class NewArray : public nb::object {
 public:
  static constexpr auto Name = nb::detail::const_name("numpy.typing.NDArray[numpy.") +
                               NUMPY_NAME<T> + nb::detail::const_name("]");

  // Makes an array and calls `fill` with its items, which are not initialized unless they are
  // objects.
  template <class Fill>
  NewArray(nb::handle shape, Fill fill) : nb::object(empty(shape)) {
    Py_buffer view;
    if (PyObject_GetBuffer(ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
    fill(static_cast<T*>(view.buf));
    PyBuffer_Release(&view);
  }

 private:
  // Looked up once and kept for the life of the process. The GIL protects them.
  static nb::object empty(nb::handle shape) {
    static nb::handle make, type;
    if (!type.is_valid()) {
      const nb::module_ numpy = nb::module_::import_("numpy");
      make = nb::object(numpy.attr("empty")).release();
      type = nb::object(numpy.attr("dtype")(NUMPY_NAME<T>.text)).release();
    }
    return make(shape, type);
  }
};

template <class T>
NewArray<T> array_of(const std::vector<T>& values) {
  return NewArray<T>(nb::int_(values.size()), [&](T* items) {
    if (!values.empty()) std::memcpy(items, values.data(), values.size() * sizeof(T));
  });
}

// Throws the exception that a signal handler raised, such as that of Ctrl-C. The caller need not
// hold the GIL.
inline void check_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Calls `run` without the GIL and passes it a watch: a function that looks for signals, calls the
// Python watcher with the number of finished units, and returns whether to continue. What either of
// them throws is thrown again after `run` has returned.
template <class Run>
auto run_watched(const std::function<bool(std::size_t)>& watcher, const Run& run) {
  std::exception_ptr failure;
  auto result = [&] {
    const nb::gil_scoped_release release;
    return run([&](std::size_t done) {
      try {
        check_signals();
        return watcher(done);
      } catch (...) {
        failure = std::current_exception();
        return false;
      }
    });
  }();
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace contextwise

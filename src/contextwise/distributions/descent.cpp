// The door from Python to descent.hpp: it only converts.

#include "descent.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace py = pybind11;
using namespace contextwise::descent;

namespace {

using Ints = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Shorts = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<double, py::array::c_style | py::array::forcecast>;

// Lets Ctrl-C end the work; called without the interpreter's lock.
void check_signals() {
  const py::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

Floats minimum(const Ints& indptr, const Shorts& indices, const Floats& data, const Ints& starts,
               const Floats& curvatures, const Floats& prices, const Floats& point,
               const Floats& gradient, int passes, double tolerance) {
  const Quadratic model{{indptr.data(), indices.data(), data.data()},
                        starts.size() - 1,
                        starts.data(),
                        curvatures.data(),
                        prices.data()};
  Floats found(point.size());
  std::copy_n(point.data(), point.size(), found.mutable_data());
  double* x = found.mutable_data();
  std::vector<double> pull(gradient.data(), gradient.data() + gradient.size());
  {
    const py::gil_scoped_release released;
    descend(model, passes, tolerance, x, pull.data(), check_signals);
  }
  return found;
}

template <class T>
py::array_t<T> as_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple gram(const Ints& indptr, const Shorts& indices, const Floats& data,
               const Ints& turned_indptr, const Shorts& turned_indices, const Floats& turned_data,
               const Floats& scale, const Ints& chosen) {
  const Matrix matrix{indptr.data(), indices.data(), data.data()};
  const Matrix turned{turned_indptr.data(), turned_indices.data(), turned_data.data()};
  const double* weight = scale.data();
  const std::int64_t* column = chosen.data();
  const std::int64_t size = chosen.size(), columns = turned_indptr.size() - 1;
  Triangle found;
  {
    const py::gil_scoped_release released;
    found = mirrored(upper_triangle(matrix, turned, columns, weight, column, size, check_signals));
  }
  return py::make_tuple(as_array(found.starts), as_array(found.indices), as_array(found.data));
}

}  // namespace

PYBIND11_MODULE(_descent, module) {
  module.doc() = "The compiled twin of contextwise.distributions.descent.";
  module.def("descend", &minimum);
  module.def("gram", &gram);
}

// The skin: NumPy arrays in, trees as arrays out. Nothing is decided here.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "trees.hpp"

namespace py = pybind11;
using namespace contextwise::grow;

namespace {

using Codes = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>;

py::array_t<std::int64_t> array_of(const std::vector<std::int64_t>& values) {
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(values.size()), values.data());
}

// `codes` has one row per variable. Returns (variables, values, counts) for each tree.
py::list grow(const Codes& codes, const std::vector<u32>& cardinalities, double penalty,
              u64 min_count, double prior, bool acyclic, unsigned threads,
              const std::function<void(std::size_t)>& progress) {
  const auto rows = static_cast<std::size_t>(codes.shape(1));
  const std::int32_t* const data = codes.data();
  std::vector<Tree> trees;
  std::exception_ptr failure;
  {
    py::gil_scoped_release release;
    const Watch watch = [&](std::size_t done) {
      py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        failure = std::make_exception_ptr(py::error_already_set());
        return false;
      }
      try {
        if (progress) progress(done);
      } catch (...) {
        failure = std::current_exception();
        return false;
      }
      return true;
    };
    const Columns columns(data, rows, cardinalities, threads);
    const Problem problem(columns, {penalty, min_count, prior});
    trees = acyclic ? AcyclicGrowth(problem, threads, watch).run()
                    : grow_trees(problem, threads, watch);
  }
  if (failure) std::rethrow_exception(failure);
  py::list result;
  for (const Tree& tree : trees)
    result.append(
        py::make_tuple(array_of(tree.variables), array_of(tree.values), array_of(tree.counts)));
  return result;
}

}  // namespace

PYBIND11_MODULE(_grow, module) {
  module.doc() = "The compiled twin of contextwise.learning.growth.";
  module.def("grow", &grow);
}

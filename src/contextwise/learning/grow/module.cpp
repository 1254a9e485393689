// The Python module `_grow`: NumPy arrays in, trees as arrays out.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../../python_arrays.hpp"
#include "trees.hpp"

using namespace nanobind::literals;
using contextwise::Array, contextwise::array_of, contextwise::NewArray, contextwise::run_watched;
using namespace contextwise::grow;
namespace nb = nanobind;

namespace {

using Ints = NewArray<std::int64_t>;

// Grows one tree per variable. `codes` has one row per variable. Returns (variables, values,
// counts) for each tree. A few times a second it calls the watcher with the number of trees done;
// when that returns false, it makes leaves of all nodes that are not finished.
std::vector<std::tuple<Ints, Ints, Ints>> grow(const Array<std::int32_t>& codes,
                                               const std::vector<u32>& cardinalities,
                                               double penalty, u64 min_count, double prior,
                                               unsigned threads,
                                               const std::function<bool(std::size_t)>& watcher) {
  const std::vector<Tree> trees = run_watched(watcher, [&](const Watch& watch) {
    const Columns columns(codes.data(), codes.shape(1), cardinalities, threads);
    const Problem problem(columns, {penalty, min_count, prior});
    return grow_trees(problem, threads, watch);
  });
  std::vector<std::tuple<Ints, Ints, Ints>> result;
  for (const Tree& tree : trees)
    result.emplace_back(array_of(tree.variables), array_of(tree.values), array_of(tree.counts));
  return result;
}

}  // namespace

NB_MODULE(_grow, module) {
  module.doc() = "The compiled twin of contextwise.learning.trees.";
  nb::set_leak_warnings(false);
  module.def("grow", &grow, "codes"_a, "cardinalities"_a, "penalty"_a, "min_count"_a, "prior"_a,
             "threads"_a, "watcher"_a);
}

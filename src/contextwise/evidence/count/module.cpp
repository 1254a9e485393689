// The Python module `_count`: distinct rows in, scores and tests out.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include "../../python_arrays.hpp"
#include "classes.hpp"
#include "cliques.hpp"
#include "contexts.hpp"
#include "scores.hpp"
#include "strata.hpp"
#include "tests.hpp"

using namespace nanobind::literals;
using contextwise::Array, contextwise::array_of, contextwise::NewArray, contextwise::run_watched;
using namespace contextwise::count;
namespace nb = nanobind;

namespace {

using Variables = std::vector<u32>;

// Makes tests without the GIL; returns one row per part of a test, one column per test.
template <class Make>
NewArray<double> matrix_of(const Make& make) {
  const std::vector<Sums> tests = [&] {
    const nb::gil_scoped_release release;
    return make();
  }();
  return {nb::make_tuple(6, tests.size()), [&](double* values) {
            for (std::size_t part = 0; part < 6; ++part)
              for (const Sums& test : tests) *values++ = test[part];
          }};
}

std::vector<double> unscaled(const std::vector<i64>& scores, double scale) {
  std::vector<double> result;
  for (const i64 score : scores) result.push_back(static_cast<double>(score) / scale);
  return result;
}

// Deletes edges; a few times a second it calls the watcher with the number of finished units.
bool delete_edges(ContextGraphs& graphs, std::size_t size, unsigned threads,
                  const std::function<bool(std::size_t)>& watcher) {
  return run_watched(watcher,
                     [&](const Watch& watch) { return graphs.delete_edges(size, threads, watch); });
}

}  // namespace

NB_MODULE(_count, module) {
  module.doc() = "The compiled twin of the counting in contextwise.evidence.counted_rows.";
  nb::set_leak_warnings(false);
  module.def(
      "maximal_cliques",
      [](const Array<bool>& graph) { return Cliques(graph.data(), graph.shape(0)).find(); },
      "graph"_a, "Return the maximal cliques of two or more nodes.");
  nb::class_<ContextGraphs>(module, "ContextGraphs")
      .def("delete_edges", &delete_edges, "size"_a, "threads"_a, "watcher"_a)
      .def("graphs", [](const ContextGraphs& self) {
        return NewArray<bool>(
            nb::make_tuple(self.rows().size(), self.rows().variables(), self.rows().variables()),
            [&](bool* result) { self.graphs(result); });
      });
  nb::class_<Rows>(module, "Rows")
      .def(
          "__init__",
          [](Rows* self, const Array<u32>& codes, const Array<u32>& counts,
             const Variables& cardinalities) {
            new (self) Rows{{codes.data(), codes.data() + codes.size()},
                            {counts.data(), counts.data() + counts.size()},
                            cardinalities};
          },
          "codes"_a, "counts"_a, "cardinalities"_a)
      .def(
          "score",
          [](const Rows& rows, std::size_t target, const Variables& blanket, double weight,
             double scale) {
            const nb::gil_scoped_release release;
            const Partition groups = Refiner(rows).by(blanket);
            return static_cast<double>(Scorer(rows, target, scale).score(groups, weight)) / scale;
          },
          "target"_a, "blanket"_a, "weight"_a, "scale"_a)
      .def(
          "scores",
          [](const Rows& rows, std::size_t target, const Variables& blanket,
             const Variables& others, double prior, double cells, double scale) {
            const nb::gil_scoped_release release;
            const Partition groups = Refiner(rows).by(blanket);
            return unscaled(Scorer(rows, target, scale).scores(groups, others, prior, cells),
                            scale);
          },
          "target"_a, "blanket"_a, "others"_a, "prior"_a, "cells"_a, "scale"_a)
      .def(
          "tests",
          [](const Rows& rows, std::size_t target, const Variables& given,
             const Variables& others) {
            return matrix_of(
                [&] { return Tester(rows, target).tests(Refiner(rows).by(given), others); });
          },
          "target"_a, "given"_a, "others"_a)
      .def(
          "tables_within",
          [](const Rows& rows, const Array<i64>& chosen, const Variables& given, u32 first,
             u32 second) {
            return array_of(
                tables_within(rows, {chosen.data(), chosen.size()}, given, first, second));
          },
          "chosen"_a, "given"_a, "first"_a, "second"_a)
      .def(
          "tests_on",
          [](const Rows& rows, const Array<i64>& chosen, std::size_t target,
             const Variables& others) {
            return matrix_of([&] {
              Partition part{{chosen.data(), chosen.data() + chosen.size()}, {}};
              if (chosen.size()) part.ends.push_back(static_cast<u32>(chosen.size()));
              return Tester(rows, target).tests(std::move(part), others);
            });
          },
          "chosen"_a, "target"_a, "others"_a)
      .def(
          "tests_without_each",
          [](const Rows& rows, std::size_t target, const Variables& blanket) {
            return matrix_of([&] { return Tester(rows, target).without_each(blanket); });
          },
          "target"_a, "blanket"_a)
      .def(
          "tests_in_context",
          [](const Rows& rows, std::size_t target, const Variables& variables,
             const Variables& values) {
            return matrix_of([&] { return Tester(rows, target).in_context(variables, values); });
          },
          "target"_a, "variables"_a, "values"_a)
      .def(
          "context_graphs",
          [](const Rows& rows, const Variables& varying, double level, double min_count) {
            return ContextGraphs(rows, varying, level, min_count);
          },
          "varying"_a, "level"_a, "min_count"_a, nb::keep_alive<0, 1>())
      .def(
          "classes",
          [](const Rows& rows, std::size_t target, const Variables& blanket, double prior,
             double scale) { return Classes(rows, target, blanket, prior, scale); },
          "target"_a, "blanket"_a, "prior"_a, "scale"_a);
  nb::class_<Classes>(module, "Classes")
      .def("total", &Classes::total)
      .def("gain", &Classes::gain, "other"_a, "context"_a)
      .def("merge", &Classes::merge, "other"_a, "context"_a)
      .def("is_merged", &Classes::is_merged, "other"_a, "context"_a);
}

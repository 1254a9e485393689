// The Python module `_blocks`: fits conditional distributions and ranks more predictors.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "../../python_arrays.hpp"
#include "logit.hpp"

using namespace nanobind::literals;
using contextwise::Array;
using namespace contextwise::blocks;
namespace nb = nanobind;

namespace {

using Shape = std::pair<std::vector<u32>, std::vector<std::pair<u32, u64>>>;

std::vector<Block> blocks_of(const std::vector<Shape>& shapes) {
  std::vector<Block> result;
  for (const Shape& shape : shapes) result.push_back({shape.first, shape.second});
  return result;
}

// `codes` has one row per variable.
Table table_of(const Array<std::uint32_t>& codes, const Array<double>& counts,
               std::vector<u32> cardinalities) {
  Table table;
  const std::size_t rows = counts.shape(0);
  table.counts.assign(counts.data(), counts.data() + rows);
  for (std::size_t v = 0; v < cardinalities.size(); ++v)
    table.columns.emplace_back(codes.data() + v * rows, codes.data() + (v + 1) * rows);
  table.cardinalities = std::move(cardinalities);
  return table;
}

// Returns the log-likelihood and the weights; `start` are weights to start from.
std::pair<double, std::vector<double>> fit(Rows& rows, u32 v, const std::vector<Shape>& shapes,
                                           const std::vector<double>& start) {
  const Logit& logit = rows.fitted(v, blocks_of(shapes), start);
  return {logit.log_likelihood(), logit.weights()};
}

// Returns half of Rao's statistic for each option, which is a list of more blocks.
std::vector<double> rao(Rows& rows, u32 v, const std::vector<Shape>& shapes,
                        const std::vector<double>& weights,
                        const std::vector<std::vector<Shape>>& options) {
  std::vector<std::vector<Block>> more;
  for (const std::vector<Shape>& option : options) more.push_back(blocks_of(option));
  return rows.prepared(v, blocks_of(shapes), weights).rao(more);
}

// Returns about how the log-likelihood changes if one of the blocks acts only where a literal
// holds.
std::vector<double> only(Rows& rows, u32 v, const std::vector<Shape>& shapes,
                         const std::vector<double>& weights, std::size_t block,
                         const std::vector<std::pair<u32, u64>>& literals) {
  return rows.prepared(v, blocks_of(shapes), weights).only(block, literals);
}

}  // namespace

NB_MODULE(_blocks, module) {
  module.doc() = "The compiled twin of contextwise.learning.logit.";
  nb::set_leak_warnings(false);
  nb::class_<Rows>(module, "Table", "Distinct rows and their counts.")
      .def(
          "__init__",
          [](Rows* self, const Array<std::uint32_t>& codes, const Array<double>& counts,
             const std::vector<u32>& cardinalities) {
            new (self) Rows(table_of(codes, counts, cardinalities));
          },
          "codes"_a, "counts"_a, "cardinalities"_a)
      .def("fit", &fit, "v"_a, "blocks"_a, "start"_a)
      .def("rao", &rao, "v"_a, "blocks"_a, "weights"_a, "options"_a)
      .def("only", &only, "v"_a, "blocks"_a, "weights"_a, "block"_a, "literals"_a);
}

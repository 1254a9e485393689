// The functions of the Python module that count many models at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "../python_values.hpp"
#include "assertions.hpp"
#include "budget.hpp"
#include "distances.hpp"
#include "features.hpp"
#include "recursions.hpp"
#include "redrawn.hpp"

using namespace nanobind::literals;

namespace contextwise {

namespace {

// Counts the distances of many models. Returns
//   the distances, as words, without the unions that are not finished;
//   the unions that are not finished, four ints each: pair, two models, cell;
//   whether Ctrl-C ended the work.
std::tuple<NewArray<u64>, NewArray<std::int64_t>, bool> count_distances(
    const std::vector<std::int64_t>& cardinalities, const Array<u64>& value_weights,
    const std::vector<Model>& models, std::size_t rows, const Array<std::int64_t>& pairs,
    const Array<u64>& factors, std::size_t width, bool canonical, unsigned threads,
    std::optional<u64> node_budget, std::size_t memory, const Progress& progress) {
  ManyModels many{cardinalities, naturals_of(value_weights), {}};
  for (const Model& model : models) many.arrays.push_back(arrays_of(model));
  const DistanceOptions options{canonical, threads, node_budget.value_or(Budget::UNLIMITED),
                                memory};
  std::optional<DistanceCounter> counter;
  bool interrupted = false;
  {
    const nb::gil_scoped_release release;
    counter.emplace(many, rows, pairs_of(pairs), naturals_of(factors), width, options);
    interrupted = run_counter(*counter, progress);
  }
  std::vector<std::int64_t> open;
  for (const auto& [pair, first, second, cell] : counter->open())
    open.insert(open.end(), {pair, first, second, cell});
  return {array_of(counter->sums().words()), array_of(open), interrupted};
}

// Counts the distance from model `a` to each draw of model `b`; the value sets of the draws follow
// one another in `b`. Returns
//   the distances, one row per draw and one column per pair;
//   the distances that are not finished, two ints each: pair and draw;
//   whether Ctrl-C ended the work.
std::tuple<IntegerTable, NewArray<std::int64_t>, bool> count_redrawn(
    const std::vector<std::int64_t>& cardinalities, const Array<u64>& value_weights, const Model& a,
    const Model& b, std::size_t draws, const Array<std::int64_t>& pairs, bool canonical,
    unsigned threads, std::optional<u64> node_budget, std::size_t memory) {
  const PairOptions options{canonical, threads, node_budget.value_or(Budget::UNLIMITED),
                            Clock::time_point::max(), memory};
  const RedrawnModels models{cardinalities, naturals_of(value_weights), arrays_of(a), arrays_of(b),
                             draws};
  const auto literals = static_cast<std::size_t>(models.b.starts[models.b.count]);
  if (!draws || std::get<2>(b).shape(0) != draws * literals)
    throw nb::value_error("every draw must have one value set per literal of the model");
  std::vector<Pair> wanted = pairs_of(pairs);
  const std::size_t count = wanted.size();
  std::optional<RedrawnCounter> counter;
  bool interrupted = false;
  {
    const nb::gil_scoped_release release;
    counter.emplace(models, std::move(wanted), options);
    interrupted = run_counter(*counter, {});
  }
  Integers integers;
  IntegerTable table = table_of(draws, count, [&](std::size_t draw, std::size_t pair) {
    return integers.of(counter->distance(pair, draw));
  });
  std::vector<std::int64_t> open;
  for (const auto& [pair, draw] : counter->open()) open.insert(open.end(), {pair, draw});
  return {std::move(table), array_of(open), interrupted};
}

// Answers a sample of assertions. Returns one bit per assertion, and the first feature that makes
// it dependent or -1.
std::tuple<NewArray<u64>, NewArray<std::int64_t>> ask(
    const std::vector<std::int64_t>& cardinalities, const Array<std::int64_t>& pairs,
    const Array<std::int64_t>& starts, const Array<u64>& holds, bool canonical,
    const Model& model) {
  const std::size_t words = holds.shape(1);
  const Sample sample{cardinalities, pairs.data(), starts.data(), pairs.shape(0),
                      holds.data(),  words,        canonical};
  std::vector<u64> answers(words, 0);
  std::vector<std::int64_t> first(static_cast<std::size_t>(starts.data()[starts.size() - 1]), -1);
  const FeatureArrays features = arrays_of(model);
  {
    const nb::gil_scoped_release release;
    Answers(sample).run(features, answers.data(), first.data());
  }
  return {array_of(answers), array_of(first)};
}

// Counts the bits in which each row of one table differs from each row of the other.
NewArray<std::int64_t> differing(const Array<u64>& first, const Array<u64>& second) {
  const std::size_t rows = first.shape(0), others = second.shape(0), words = first.shape(1);
  return NewArray<std::int64_t>(nb::make_tuple(rows, others), [&](std::int64_t* counts) {
    const nb::gil_scoped_release release;
    count_differing(first.data(), rows, second.data(), others, words, counts);
  });
}

}  // namespace

void add_counts_of_many(nb::module_& module) {
  module.def("count_distances", &count_distances, "cardinalities"_a, "value_weights"_a, "models"_a,
             "rows"_a, "pairs"_a, "factors"_a, "width"_a, "canonical"_a, "threads"_a,
             "node_budget"_a.none(), "memory"_a, "progress"_a.none());
  module.def("count_redrawn", &count_redrawn, "cardinalities"_a, "value_weights"_a, "a"_a, "b"_a,
             "draws"_a, "pairs"_a, "canonical"_a, "threads"_a, "node_budget"_a.none(), "memory"_a);
  module.def("ask", &ask, "cardinalities"_a, "pairs"_a, "starts"_a, "holds"_a, "canonical"_a,
             "model"_a);
  module.def("differing", &differing, "first"_a, "second"_a);
}

}  // namespace contextwise

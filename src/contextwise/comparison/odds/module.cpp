// The Python module `_odds`: arrays of two models in, sizes of joint verdicts out.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "../../counting/python_values.hpp"
#include "pairs.hpp"

using namespace nanobind::literals;
using namespace contextwise;
using namespace contextwise::odds;

namespace {

// The arrays of features, their weights or None, and the features of each pair.
using Weighted = std::tuple<Model, std::optional<Array<i64>>, Array<i64>, Array<i64>>;

WeightedModel weighted(const Weighted& model) {
  const auto& [features, weights, starts, owners] = model;
  return {arrays_of(features), weights ? weights->data() : nullptr, starts.data(), owners.data()};
}

// One row for each pair, tolerance and joint verdict with contexts, except independent in both.
struct Verdicts {
  NewArray<i64> rows;    // pair, tolerance, verdict
  NewArray<u64> sizes;   // of these rows, in words
  NewArray<u64> wholes;  // all contexts of each pair, in words; 0: there was no time
  u64 nodes;
  bool interrupted;
};

NewArray<u64> table(const std::vector<std::span<const u64>>& numbers, std::size_t words) {
  return {nb::make_tuple(numbers.size(), words), [&](u64* item) {
            for (const std::span<const u64> number : numbers) {
              std::fill(std::ranges::copy(number, item).out, item + words, 0);
              item += words;
            }
          }};
}

Verdicts verdicts_of(const PairSearches& searches, std::size_t tolerances, bool interrupted) {
  std::size_t words = 1;
  std::vector<i64> rows;
  std::vector<std::span<const u64>> sizes, wholes;
  for (std::size_t k = 0; k < searches.found().size(); ++k) {
    const Found& found = searches.found()[k];
    words = std::max(words, found.words);
    wholes.emplace_back(found.whole);
    if (!found.words) continue;
    for (std::size_t t = 0; t < tolerances; ++t)
      for (std::size_t verdict = 1; verdict < VERDICTS; ++verdict) {
        const std::span<const u64> size =
            std::span<const u64>(found.sizes)
                .subspan((t * VERDICTS + verdict) * found.words, found.words);
        if (std::ranges::all_of(size, [](u64 word) { return word == 0; })) continue;
        for (const std::size_t part : {k, t, verdict}) rows.push_back(static_cast<i64>(part));
        sizes.push_back(size);
      }
  }
  return {array_of(rows), table(sizes, words), table(wholes, words), searches.nodes(), interrupted};
}

Verdicts count_verdicts(const std::vector<i64>& cardinalities, const Weighted& first,
                        const Weighted& second, const Array<i64>& pairs,
                        const std::vector<i64>& thresholds, unsigned threads,
                        std::optional<u64> node_budget, std::optional<double> seconds,
                        const Progress& progress) {
  Options options{node_budget.value_or(Budget::UNLIMITED), Clock::time_point::max(), threads};
  if (seconds)
    options.deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(std::clamp(*seconds, 0.0, 1e9)));
  const WeightedModel models[2] = {weighted(first), weighted(second)};
  PairSearches searches(cardinalities, models, pairs_of(pairs), thresholds, options);
  bool interrupted = false;
  {
    const nb::gil_scoped_release release;
    searches.run([&](std::size_t done) {
      interrupted = !report(progress, done);
      return !interrupted;
    });
  }
  return verdicts_of(searches, thresholds.size(), interrupted);
}

}  // namespace

NB_MODULE(_odds, module) {
  module.doc() = "The compiled twin of contextwise.comparison.tolerance_search.";
  nb::set_leak_warnings(false);
  nb::class_<Verdicts>(module, "Verdicts")
      .def_ro("rows", &Verdicts::rows)
      .def_ro("sizes", &Verdicts::sizes)
      .def_ro("wholes", &Verdicts::wholes)
      .def_ro("nodes", &Verdicts::nodes)
      .def_ro("interrupted", &Verdicts::interrupted);
  module.def(
      "count_verdicts", &count_verdicts, "cardinalities"_a, "first"_a, "second"_a, "pairs"_a,
      "thresholds"_a, "threads"_a, "node_budget"_a.none(), "seconds"_a.none(), "progress"_a.none(),
      "Return the sizes of the joint verdicts of two models on each pair at rising thresholds.");
}

// The Python module `_kernel`: converts arguments and results, and passes on Ctrl-C and progress.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>

#include "../python_values.hpp"
#include "assertions.hpp"
#include "bigint.hpp"
#include "budget.hpp"
#include "cover.hpp"
#include "distances.hpp"
#include "features.hpp"
#include "index.hpp"
#include "interval.hpp"
#include "pairs.hpp"
#include "recursions.hpp"
#include "threads.hpp"
#include "tracker.hpp"
#include "uncovered.hpp"
#include "unions.hpp"

using namespace nanobind::literals;
using namespace contextwise;

namespace {

using Numbers = nb::typed<nb::dict, nb::str, nb::int_>;
using Known = std::tuple<Array<std::int64_t>, Array<u64>>;

Clock::time_point deadline_in(std::optional<double> seconds) {
  if (!seconds) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::clamp(*seconds, 0.0, 1e9)));
}

// Counts the weight that a cover leaves uncovered. Returns lower bound, upper bound and the number
// of nodes.
std::tuple<nb::int_, nb::int_, u64> count_uncovered(
    const std::vector<u32>& start, const Array<u64>& weights, const Array<u64>& forbidden,
    std::optional<u64> node_budget, std::optional<double> seconds, std::size_t memory) {
  Cover cover;
  cover.start = start;
  cover.weights = naturals_of(weights);
  if (std::ranges::all_of(cover.weights, &Natural::is_one)) cover.weights.clear();
  cover.forbidden.assign(forbidden.data(), forbidden.data() + forbidden.size());
  cover.names.resize(cover.variables());
  std::iota(cover.names.begin(), cover.names.end(), u32{0});
  std::atomic<bool> stop{false};
  Budget budget{node_budget.value_or(Budget::UNLIMITED), deadline_in(seconds), &stop};
  Interval<Natural> result;
  {
    const nb::gil_scoped_release release;
    const WatchedThreads::Work work = [&] { result = uncovered_by_any(cover, budget, memory); };
    const WatchedThreads::Watch watch = [] { return check_signals(), true; };
    WatchedThreads(stop, work, watch).run(1);
  }
  return {integer(result.low), integer(result.high()), budget.used};
}

// The sizes of three unions for each pair. Sizes are in a common unit, which follows from `limit`:
// see ContextSpace.unit in counting/contexts.py.
struct PairResult {
  nb::object lower;             // lower bounds, three per pair
  NewArray<std::int64_t> open;  // the pairs that are not finished
  nb::object upper;             // upper bounds of these
  u32 limit;
  bool interrupted;  // whether Ctrl-C ended the work
  Numbers work;      // what counting took: the nodes of the recursion
};

// Makes a table of three numbers per row: of machine integers if all fit, else of Python ints. The
// limit of 62 bits leaves room for sums of two.
template <class Number>
nb::object sizes_table(std::size_t rows, bool fits, Number number) {
  if (fits)
    return NewArray<std::int64_t>(nb::make_tuple(rows, 3), [&](std::int64_t* item) {
      for (std::size_t k = 0; k < rows; ++k)
        for (std::size_t union_ = 0; union_ < 3; ++union_) {
          const Natural& size = number(k, union_);
          *item++ = size.is_zero() ? 0 : static_cast<std::int64_t>(size.words()[0]);
        }
    });
  Integers integers;
  return table_of(
      rows, 3, [&](std::size_t k, std::size_t union_) { return integers.of(number(k, union_)); });
}

// Counts three unions for each pair. An exception of `progress` ends the work and is thrown.
// `known` returns, for a limit, nothing or for each of the two models the places of pairs whose
// union is known, and its sizes.
PairResult count_pairs(const std::vector<std::int64_t>& cardinalities,
                       const Array<u64>& value_weights, const Model& a, const Model& b,
                       const Array<std::int64_t>& pairs, bool canonical, unsigned threads,
                       std::optional<u64> node_budget, std::optional<double> seconds,
                       std::size_t memory, const Progress& progress,
                       const std::function<std::vector<Known>(u32)>& known) {
  const PairOptions options{canonical, threads, node_budget.value_or(Budget::UNLIMITED),
                            deadline_in(seconds), memory};
  TwoModels models{cardinalities, naturals_of(value_weights), arrays_of(a), arrays_of(b)};
  std::vector<Pair> wanted = pairs_of(pairs);
  std::optional<PairCounter> counter;
  {
    const nb::gil_scoped_release release;
    counter.emplace(std::move(models), std::move(wanted), options);
  }
  if (known) {
    std::size_t model = 0;
    for (const auto& [places, rows] : known(counter->limit()))
      counter->know(model++, {{places.data(), places.data() + places.size()}, naturals_of(rows)});
  }
  bool interrupted = false;
  {
    const nb::gil_scoped_release release;
    interrupted = run_counter(*counter, progress);
  }
  const std::vector<PairSizes>& sizes = counter->sizes();
  std::vector<std::int64_t> open;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (!sizes[k].closed()) open.push_back(static_cast<std::int64_t>(k));
  std::vector<Natural> highs;
  for (const std::int64_t k : open)
    for (const Interval<Natural>& size : sizes[static_cast<std::size_t>(k)].sizes)
      highs.push_back(size.high());
  nb::dict work;
  work["nodes"] = counter->nodes();
  const bool fits = counter->whole().bits() <= 62;
  return {sizes_table(sizes.size(), fits,
                      [&](std::size_t k, std::size_t union_) -> const Natural& {
                        return sizes[k].sizes[union_].low;
                      }),
          array_of(open),
          sizes_table(open.size(), fits,
                      [&](std::size_t k, std::size_t union_) -> const Natural& {
                        return highs[3 * k + union_];
                      }),
          counter->limit(),
          interrupted,
          Numbers(work)};
}

// Lists the pairs that some feature has in its scope, in rising order.
NewArray<std::int64_t> covered_pairs_of(std::size_t variables, const std::vector<Model>& models,
                                        const std::optional<Array<std::int64_t>>& among) {
  std::vector<FeatureArrays> arrays;
  for (const Model& model : models) arrays.push_back(arrays_of(model));
  const std::vector<Pair> covered =
      among ? covered_pairs(arrays, variables, pairs_of(*among)) : covered_pairs(arrays, variables);
  return NewArray<std::int64_t>(nb::make_tuple(covered.size(), 2), [&](std::int64_t* items) {
    for (const auto& [first, second] : covered) {
      *items++ = first;
      *items++ = second;
    }
  });
}

// Counts the distances of many models. Returns
//   the distances, a row of words each;
//   the limit that defines the unit of the distances;
//   whether they are finished;
//   whether Ctrl-C ended the work.
std::tuple<NewArray<u64>, u32, bool, bool> count_distances(
    const std::vector<std::int64_t>& cardinalities, const Array<u64>& value_weights,
    const std::vector<Model>& models, std::size_t rows, const Array<std::int64_t>& pairs,
    const Array<u64>& factors, bool canonical, unsigned threads, std::optional<double> seconds,
    std::size_t memory, const Progress& progress) {
  ManyModels many{cardinalities, naturals_of(value_weights), {}};
  for (const Model& model : models) many.arrays.push_back(arrays_of(model));
  const DistanceOptions options{canonical, threads, deadline_in(seconds), memory};
  std::optional<DistanceCounter> counter;
  bool interrupted = false;
  {
    const nb::gil_scoped_release release;
    counter.emplace(many, rows, pairs_of(pairs), naturals_of(factors), options);
    interrupted = run_counter(*counter, progress);
  }
  const std::vector<u64>& words = counter->sums().words();
  const std::size_t width = counter->width();
  return {NewArray<u64>(nb::make_tuple(words.size() / width, width),
                        [&](u64* items) { std::ranges::copy(words, items); }),
          counter->limit(), counter->finished(), interrupted};
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

// A Tracker that returns Python ints. It watches for Ctrl-C only while it counts hard changes.
class PyTracker {
 public:
  PyTracker(const std::vector<std::int64_t>& cardinalities, const Array<u64>& value_weights,
            const Model& a, const Model& b, bool canonical, std::size_t memory)
      : tracker_(cardinalities, naturals_of(value_weights), arrays_of(a), arrays_of(b), canonical,
                 memory) {}

  u32 know(const Model& feature) { return tracker_.know(arrays_of(feature)); }
  void insert(u32 feature) { tracker_.insert(feature); }
  void erase(u32 feature) { tracker_.erase(feature); }

  // Returns four ints per pair: by how much the union of the guess grows and shrinks, and by how
  // much that of both models; nothing if the time is not enough.
  std::vector<nb::int_> count(const std::vector<std::pair<u32, u32>>& pairs,
                              const std::vector<u32>& more, const std::vector<u32>& less,
                              std::optional<double> seconds) {
    wanted_.clear();
    for (const auto& [first, second] : pairs) wanted_.push_back({first, second});
    changes_.clear();
    const Clock::time_point deadline = deadline_in(seconds);
    tracker_.count(wanted_, more, less, Budget{AT_ONCE, deadline}, changes_);
    if (!std::ranges::all_of(changes_, &Growth::closed)) {
      std::atomic<bool> stop{false};
      const nb::gil_scoped_release release;
      const WatchedThreads::Work work = [&] {
        tracker_.count(wanted_, more, less, Budget{Budget::UNLIMITED, deadline, &stop}, changes_);
      };
      WatchedThreads(stop, work, [] { return check_signals(), true; }).run(1);
    }
    std::vector<nb::int_> result;
    if (!std::ranges::all_of(changes_, &Growth::closed)) return result;
    result.reserve(4 * changes_.size());
    for (const auto& [grown, shrunk, closed] : changes_)
      for (std::size_t k = 0; k < 2; ++k) {
        result.push_back(integer(grown[k]));
        result.push_back(integer(shrunk[k]));
      }
    return result;
  }

 private:
  static constexpr u64 AT_ONCE = 10'000;  // nodes per union before it watches for Ctrl-C

  Tracker tracker_;
  std::vector<Pair> wanted_;
  std::vector<Growth> changes_;
};

}  // namespace

NB_MODULE(_kernel, module) {
  module.doc() = "The method of contextwise.counting.branch, compiled, for all pairs at once.";
  nb::set_leak_warnings(false);
  module.def("count_uncovered", &count_uncovered, "start"_a, "weights"_a, "forbidden"_a,
             "node_budget"_a.none(), "seconds"_a.none(), "memory"_a);
  module.def("count_pairs", &count_pairs, "cardinalities"_a, "value_weights"_a, "a"_a, "b"_a,
             "pairs"_a, "canonical"_a, "threads"_a, "node_budget"_a.none(), "seconds"_a.none(),
             "memory"_a, "progress"_a.none(), "known"_a = nb::none());
  module.def("covered_pairs", &covered_pairs_of, "variables"_a, "models"_a, "among"_a.none());
  module.def("count_distances", &count_distances, "cardinalities"_a, "value_weights"_a, "models"_a,
             "rows"_a, "pairs"_a, "factors"_a, "canonical"_a, "threads"_a, "seconds"_a.none(),
             "memory"_a, "progress"_a.none());
  module.def("ask", &ask, "cardinalities"_a, "pairs"_a, "starts"_a, "holds"_a, "canonical"_a,
             "model"_a);
  nb::class_<PairResult>(module, "PairResult")
      .def_ro("lower", &PairResult::lower,
              nb::for_getter(nb::sig("def lower(self, /) -> numpy.typing.NDArray[typing.Any]")))
      .def_ro("open", &PairResult::open)
      .def_ro("upper", &PairResult::upper,
              nb::for_getter(nb::sig("def upper(self, /) -> numpy.typing.NDArray[typing.Any]")))
      .def_ro("limit", &PairResult::limit)
      .def_ro("interrupted", &PairResult::interrupted)
      .def_ro("work", &PairResult::work);
  nb::class_<PyTracker>(module, "Tracker")
      .def(nb::init<const std::vector<std::int64_t>&, const Array<u64>&, const Model&, const Model&,
                    bool, std::size_t>(),
           "cardinalities"_a, "value_weights"_a, "a"_a, "b"_a, "canonical"_a, "memory"_a)
      .def("know", &PyTracker::know, "feature"_a)
      .def("insert", &PyTracker::insert, "feature"_a)
      .def("erase", &PyTracker::erase, "feature"_a)
      .def("count", &PyTracker::count, "pairs"_a, "more"_a, "less"_a, "seconds"_a = nb::none());
}

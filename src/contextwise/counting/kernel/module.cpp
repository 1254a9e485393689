// The skin between Python and the kernel: arrays in, exact ints out, Ctrl-C and progress passed on.
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

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

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
#include "redrawn.hpp"
#include "threads.hpp"
#include "tracker.hpp"
#include "uncovered.hpp"
#include "unions.hpp"

namespace py = pybind11;
using namespace contextwise;

namespace {

Clock::time_point deadline_in(std::optional<double> seconds) {
  if (!seconds) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::clamp(*seconds, 0.0, 1e9)));
}

// Whether a signal handler, such as that of Ctrl-C, has raised; then its exception is thrown.
void check_signals() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// The weight that a cover leaves uncovered: lower and upper bound, and the nodes it took.
py::tuple count_uncovered(const std::vector<u32>& start, const Array<u64>& weights,
                          const Array<u64>& forbidden, std::optional<u64> node_budget,
                          std::optional<double> seconds, std::size_t memory) {
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
    const py::gil_scoped_release release;
    const WatchedThreads::Work work = [&] { result = uncovered_by_any(cover, budget, memory); };
    const WatchedThreads::Watch watch = [] { return check_signals(), true; };
    WatchedThreads(stop, work, watch).run(1);
  }
  return py::make_tuple(integer(result.low), integer(result.high()), budget.used);
}

py::dict result_of(const PairCounter& counter, bool interrupted) {
  const std::vector<PairSizes>& found = counter.found();
  std::vector<std::int64_t> open;
  for (std::size_t k = 0; k < found.size(); ++k)
    if (!found[k].closed()) open.push_back(static_cast<std::int64_t>(k));
  py::dict result;
  Integers made;
  result["lower"] = table_of(
      found.size(), 3, [&](auto k, auto union_) { return made.of(found[k].sizes[union_].low); });
  result["open"] = array_of(open);
  result["upper"] = table_of(open.size(), 3, [&](auto k, auto union_) {
    const PairSizes& own = found[static_cast<std::size_t>(open[k])];
    return integer(own.sizes[union_].high()).release().ptr();
  });
  result["interrupted"] = interrupted;
  result["nodes"] = counter.nodes();
  result["extracting"] = counter.seconds_of_indexing();
  return result;
}

// Reports progress; false after Ctrl-C, even where it arrives in the middle of the report.
bool go_on(const std::function<void(std::size_t)>& progress, std::size_t done) {
  const py::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (progress) progress(done);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    return false;
  }
  return true;
}

// Three unions for each pair. Ctrl-C ends the work early and is told in the result; an exception of
// `progress` ends it and is thrown.
py::dict count_pairs(const std::vector<std::int64_t>& cardinalities,
                     const Array<u64>& value_weights, const Model& a, const Model& b,
                     const Array<std::int64_t>& pairs, bool canonical, unsigned threads,
                     std::optional<u64> node_budget, std::optional<double> seconds,
                     std::size_t memory, const std::function<void(std::size_t)>& progress) {
  const PairOptions options{canonical, threads, node_budget.value_or(Budget::UNLIMITED),
                            deadline_in(seconds), memory};
  TwoModels models{cardinalities, naturals_of(value_weights), arrays_of(a), arrays_of(b)};
  std::vector<Pair> wanted = pairs_of(pairs);
  std::optional<PairCounter> counter;
  bool interrupted = false;
  {
    const py::gil_scoped_release release;
    counter.emplace(std::move(models), std::move(wanted), options);
    counter->run([&](std::size_t done) {
      interrupted = !go_on(progress, done);
      return !interrupted;
    });
  }
  return result_of(*counter, interrupted);
}

Array<std::int64_t> covered_pairs_of(std::size_t variables, const std::vector<Model>& models,
                                     const std::optional<Array<std::int64_t>>& among) {
  std::vector<FeatureArrays> arrays;
  for (const Model& model : models) arrays.push_back(arrays_of(model));
  const std::vector<Pair> found =
      among ? covered_pairs(arrays, variables, pairs_of(*among)) : covered_pairs(arrays, variables);
  Array<std::int64_t> result({static_cast<py::ssize_t>(found.size()), py::ssize_t{2}});
  std::int64_t* flat = result.mutable_data();
  for (const auto& [first, second] : found) {
    *flat++ = first;
    *flat++ = second;
  }
  return result;
}

// The distances of many models, as words, without the unions that stayed open; these, one row each:
// pair, two models, cell; and whether Ctrl-C ended the work.
py::tuple count_distances(const std::vector<std::int64_t>& cardinalities,
                          const Array<u64>& value_weights, const std::vector<Model>& models,
                          std::size_t rows, const Array<std::int64_t>& pairs,
                          const Array<u64>& factors, std::size_t width, bool canonical,
                          unsigned threads, std::optional<u64> node_budget, std::size_t memory,
                          const std::function<void(std::size_t)>& progress) {
  ManyModels many{cardinalities, naturals_of(value_weights), {}};
  for (const Model& model : models) many.arrays.push_back(arrays_of(model));
  const DistanceOptions options{canonical, threads, node_budget.value_or(Budget::UNLIMITED),
                                memory};
  std::optional<DistanceCounter> counter;
  bool interrupted = false;
  {
    const py::gil_scoped_release release;
    counter.emplace(many, rows, pairs_of(pairs), naturals_of(factors), width, options);
    counter->run([&](std::size_t done) {
      interrupted = !go_on(progress, done);
      return !interrupted;
    });
  }
  std::vector<std::int64_t> open;
  for (const auto& [pair, first, second, cell] : counter->open())
    open.insert(open.end(), {pair, first, second, cell});
  return py::make_tuple(array_of(counter->sums().words()), array_of(open), interrupted);
}

// The distances of each pair to draws of a model, whose value sets stand one after the other; those
// that stayed open, two ints each: pair and draw; and whether Ctrl-C ended the work.
py::tuple count_redrawn(const std::vector<std::int64_t>& cardinalities,
                        const Array<u64>& value_weights, const Model& a, const Model& b,
                        std::size_t draws, const Array<std::int64_t>& pairs, bool canonical,
                        unsigned threads, std::optional<u64> node_budget, std::size_t memory) {
  const PairOptions options{canonical, threads, node_budget.value_or(Budget::UNLIMITED),
                            Clock::time_point::max(), memory};
  const RedrawnModels models{cardinalities, naturals_of(value_weights), arrays_of(a), arrays_of(b),
                             draws};
  const auto literals = static_cast<std::size_t>(models.b.starts[models.b.count]);
  if (!draws || static_cast<std::size_t>(std::get<2>(b).shape(0)) != draws * literals)
    throw py::value_error("every draw has as many value sets as the model has literals");
  std::vector<Pair> wanted = pairs_of(pairs);
  const std::size_t count = wanted.size();
  std::optional<RedrawnCounter> counter;
  bool interrupted = false;
  {
    const py::gil_scoped_release release;
    counter.emplace(models, std::move(wanted), options);
    counter->run([&](std::size_t done) {
      interrupted = !go_on({}, done);
      return !interrupted;
    });
  }
  Integers made;
  const py::array table = table_of(
      draws, count, [&](auto draw, auto pair) { return made.of(counter->distance(pair, draw)); });
  std::vector<std::int64_t> open;
  for (const auto& [pair, draw] : counter->open()) open.insert(open.end(), {pair, draw});
  return py::make_tuple(table, array_of(open), interrupted);
}

py::tuple ask(const std::vector<std::int64_t>& cardinalities, const Array<std::int64_t>& pairs,
              const Array<std::int64_t>& starts, const Array<u64>& holds, bool canonical,
              const Model& model) {
  const auto words = static_cast<std::size_t>(holds.shape(1));
  const Sample sample{
      cardinalities, pairs.data(), starts.data(), static_cast<std::size_t>(pairs.shape(0)),
      holds.data(),  words,        canonical};
  py::array_t<u64> said(static_cast<py::ssize_t>(words));
  py::array_t<std::int64_t> first(starts.data()[starts.size() - 1]);
  std::fill_n(said.mutable_data(), words, 0);
  std::fill_n(first.mutable_data(), first.size(), -1);
  const FeatureArrays features = arrays_of(model);
  u64* const bits = said.mutable_data();
  std::int64_t* const features_first = first.mutable_data();
  {
    py::gil_scoped_release release;
    Answers(sample).run(features, bits, features_first);
  }
  return py::make_tuple(said, first);
}

py::array_t<std::int64_t> differing(const Array<u64>& first, const Array<u64>& second) {
  py::array_t<std::int64_t> counts(std::vector<py::ssize_t>{first.shape(0), second.shape(0)});
  const u64 *a = first.data(), *b = second.data();
  const auto rows = static_cast<std::size_t>(first.shape(0)),
             others = static_cast<std::size_t>(second.shape(0));
  const auto words = static_cast<std::size_t>(first.shape(1));
  std::int64_t* const cells = counts.mutable_data();
  py::gil_scoped_release release;
  count_differing(a, rows, b, others, words, cells);
  return counts;
}

// A Tracker for Python: changes as ints, small ones at once, hard ones while Ctrl-C is looked for.
class PyTracker {
 public:
  PyTracker(const std::vector<std::int64_t>& cardinalities, const Array<u64>& value_weights,
            const Model& a, const Model& b, bool canonical, std::size_t memory)
      : tracker_(cardinalities, naturals_of(value_weights), arrays_of(a), arrays_of(b), canonical,
                 memory) {}

  u32 know(const Model& feature) { return tracker_.know(arrays_of(feature)); }
  void insert(u32 claim) { tracker_.insert(claim); }
  void erase(u32 claim) { tracker_.erase(claim); }

  // For each pair four ints, in a row: how much the union of the guess grows and shrinks, and how
  // much that of both models.
  py::list count(const std::vector<std::pair<u32, u32>>& pairs, const std::vector<u32>& more,
                 const std::vector<u32>& less) {
    wanted_.clear();
    for (const auto& [first, second] : pairs) wanted_.push_back({first, second});
    found_.clear();
    tracker_.count(wanted_, more, less, Budget{AT_ONCE}, found_);
    if (!std::ranges::all_of(found_, &Growth::closed)) {
      std::atomic<bool> stop{false};
      const py::gil_scoped_release release;
      const WatchedThreads::Work work = [&] {
        tracker_.count(wanted_, more, less,
                       Budget{Budget::UNLIMITED, Clock::time_point::max(), &stop}, found_);
      };
      WatchedThreads(stop, work, [] { return check_signals(), true; }).run(1);
    }
    py::list result;
    for (const auto& [grown, shrunk, closed] : found_)
      for (std::size_t k = 0; k < 2; ++k) {
        result.append(integer(grown[k]));
        result.append(integer(shrunk[k]));
      }
    return result;
  }

 private:
  static constexpr u64 AT_ONCE = 10'000;  // nodes for each union, before Ctrl-C is looked for

  Tracker tracker_;
  std::vector<Pair> wanted_;
  std::vector<Growth> found_;
};

}  // namespace

PYBIND11_MODULE(_kernel, module) {
  module.doc() = "What contextwise.counting.branch explains, compiled, for all pairs at once.";
  module.def("count_uncovered", &count_uncovered);
  module.def("count_pairs", &count_pairs);
  module.def("covered_pairs", &covered_pairs_of);
  module.def("count_distances", &count_distances);
  module.def("count_redrawn", &count_redrawn);
  module.def("ask", &ask);
  module.def("differing", &differing);
  py::class_<PyTracker>(module, "Tracker")
      .def(py::init<const std::vector<std::int64_t>&, const Array<u64>&, const Model&, const Model&,
                    bool, std::size_t>())
      .def("know", &PyTracker::know)
      .def("insert", &PyTracker::insert)
      .def("erase", &PyTracker::erase)
      .def("count", &PyTracker::count);
}

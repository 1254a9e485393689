// The skin between Python and the kernel: arrays in, exact ints out, Ctrl-C and progress passed on.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

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

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;
using Model = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<u64>>;

FeatureArrays arrays_of(const Model& model) {
  const auto& [starts, variables, values] = model;
  return {starts.data(), variables.data(), values.data(),
          static_cast<std::size_t>(starts.size() - 1), static_cast<std::size_t>(values.shape(1))};
}

// Integers as rows of words, the lowest first.
std::vector<Natural> naturals_of(const Array<u64>& rows) {
  std::vector<Natural> result;
  if (rows.ndim() != 2) return result;
  const auto width = static_cast<std::size_t>(rows.shape(1));
  for (py::ssize_t k = 0; k < rows.shape(0); ++k)
    result.emplace_back(std::span<const u64>(rows.data(k, 0), width));
  return result;
}

// Exact numbers as ints. Numbers recur from pair to pair (all contexts, none): the last few are
// kept.
class Integers {
 public:
  PyObject* of(const Natural& value) {
    for (const auto& [known, made] : last_)
      if (made && *known == value) return made.inc_ref().ptr();
    auto& [known, made] = last_[next_++ % last_.size()];
    known = &value;
    made = py::reinterpret_steal<py::object>(fresh(value));
    return made.inc_ref().ptr();
  }

 private:
  PyObject* fresh(const Natural& value) {
    if (value.words().size() <= 1)
      return checked(PyLong_FromUnsignedLongLong(value.is_zero() ? 0 : value.words()[0]));
    if constexpr (std::endian::native == std::endian::little)
      return from_bytes(reinterpret_cast<const unsigned char*>(value.words().data()),
                        8 * value.words().size());
    std::vector<unsigned char> bytes;
    for (u64 word : value.words())
      for (int k = 0; k < 8; ++k) bytes.push_back(static_cast<unsigned char>(word >> 8 * k));
    return from_bytes(bytes.data(), bytes.size());
  }
  static PyObject* from_bytes(const unsigned char* bytes, std::size_t count) {
#if PY_VERSION_HEX >= 0x030d0000
    return checked(PyLong_FromUnsignedNativeBytes(bytes, count, Py_ASNATIVEBYTES_LITTLE_ENDIAN));
#else
    return checked(_PyLong_FromByteArray(bytes, count, 1, 0));
#endif
  }
  static PyObject* checked(PyObject* made) {
    if (!made) throw py::error_already_set();
    return made;
  }

  std::array<std::pair<const Natural*, py::object>, 4> last_;
  std::size_t next_ = 0;
};

py::object integer(const Natural& value) {
  return py::reinterpret_steal<py::object>(Integers().of(value));
}

// A row of three ints for each of these pairs; `make` gives the new reference of one.
template <class Make>
py::array integers(const std::vector<PairSizes>& found, const std::vector<std::int64_t>& rows,
                   Make make) {
  py::array table(py::dtype("O"),
                  std::vector<py::ssize_t>{static_cast<py::ssize_t>(rows.size()), 3});
  auto** cell = static_cast<PyObject**>(table.mutable_data());
  for (std::int64_t k : rows)
    for (const Interval<Natural>& size : found[static_cast<std::size_t>(k)].sizes) {
      Py_XDECREF(*cell);
      *cell++ = make(size);
    }
  return table;
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

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
  std::vector<std::int64_t> all(found.size()), open;
  std::iota(all.begin(), all.end(), std::int64_t{0});
  std::ranges::copy_if(all, std::back_inserter(open),
                       [&](auto k) { return !found[static_cast<std::size_t>(k)].closed(); });
  py::dict result;
  Integers made;
  result["lower"] = integers(found, all, [&](const auto& size) { return made.of(size.low); });
  result["open"] = array_of(open);
  result["upper"] =
      integers(found, open, [](const auto& size) { return integer(size.high()).release().ptr(); });
  result["interrupted"] = interrupted;
  result["nodes"] = counter.nodes();
  result["extracting"] = counter.seconds_of_indexing();
  return result;
}

std::vector<Pair> pairs_of(const Array<std::int64_t>& pairs) {
  std::vector<Pair> result;
  result.reserve(static_cast<std::size_t>(pairs.shape(0)));
  const std::int64_t* const flat = pairs.data();
  for (py::ssize_t k = 0; k < pairs.shape(0); ++k)
    result.push_back({static_cast<u32>(flat[2 * k]), static_cast<u32>(flat[2 * k + 1])});
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
  py::array table(py::dtype("O"), std::vector<py::ssize_t>{static_cast<py::ssize_t>(draws),
                                                           static_cast<py::ssize_t>(count)});
  auto** cell = static_cast<PyObject**>(table.mutable_data());
  Integers made;
  for (std::size_t d = 0; d < draws; ++d)
    for (std::size_t k = 0; k < count; ++k) {
      Py_XDECREF(*cell);
      *cell++ = made.of(counter->distance(k, d));
    }
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

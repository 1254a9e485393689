// The skin: NumPy arrays in, words of exact integers out. Nothing is decided here.
#include <optional>

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "pairs.hpp"

namespace py = pybind11;
using namespace contextwise;

namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;
using Model = std::tuple<Array<std::int64_t>, Array<std::int32_t>, Array<u64>>;

FeatureArrays arrays_of(const Model& model) {
  const auto& [starts, variables, values] = model;
  return {starts.data(), variables.data(), values.data(), static_cast<std::size_t>(starts.size() - 1),
          static_cast<std::size_t>(values.shape(1))};
}

// Integers as rows of words, the lowest first.
std::vector<Natural> naturals_of(const Array<u64>& rows) {
  std::vector<Natural> result;
  if (rows.ndim() != 2) return result;
  const auto width = static_cast<std::size_t>(rows.shape(1));
  for (py::ssize_t k = 0; k < rows.shape(0); ++k) result.emplace_back(rows.data(k, 0), width);
  return result;
}

py::object integer(const Natural& value) {
  const std::vector<u64>& words = value.words();
  if (words.size() <= 1) return py::int_(words.empty() ? u64{0} : words[0]);
  std::string bytes(8 * words.size(), '\0');
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<char>(words[k / 8] >> 8 * (k % 8));
  static PyObject* const from_bytes =
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyLong_Type), "from_bytes");
  static PyObject* const little = PyUnicode_InternFromString("little");
  const py::bytes data(bytes);
  PyObject* made = PyObject_CallFunctionObjArgs(from_bytes, data.ptr(), little, nullptr);
  if (!made) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// The bounds of all unions as lists of ints. Equal numbers of a pair share one object.
std::pair<py::list, py::list> integers(const std::vector<Outcome>& outcomes) {
  py::list lower(3 * outcomes.size()), upper(3 * outcomes.size());
  std::size_t at = 0;
  for (const Outcome& outcome : outcomes) {
    const Natural* last = nullptr;
    py::object made;
    const auto next = [&](const Natural& value) {
      if (!last || !(*last == value)) made = integer(value);
      last = &value;
      return made;
    };
    for (const Bounds<Natural>& size : outcome.sizes) {
      lower[at] = next(size.low);
      upper[at++] = next(size.high);
    }
  }
  return {lower, upper};
}

Clock::time_point deadline_in(std::optional<double> seconds) {
  if (!seconds) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::clamp(*seconds, 0.0, 1e9)));
}

// Runs work on a thread of its own while this one looks for Ctrl-C.
py::tuple solve_cover(const std::vector<u32>& start, const Array<u64>& weights,
                      const Array<u64>& forbidden, std::optional<u64> node_budget,
                      std::optional<double> seconds, std::size_t memory) {
  Cover cover;
  cover.start = start;
  cover.weights = naturals_of(weights);
  cover.cubes.assign(forbidden.data(), forbidden.data() + forbidden.size());
  cover.names.resize(cover.variables());
  Bounds<Natural> result;
  std::atomic<bool> stop{false};
  Budget budget{node_budget.value_or(Budget::UNLIMITED), deadline_in(seconds), &stop};
  std::vector<char> kept(cover.variables(), 0);
  std::iota(cover.names.begin(), cover.names.end(), u32{0});
  bool interrupted = false;
  {
    py::gil_scoped_release release;
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::exception_ptr failure;
    std::thread worker([&] {
      try {
        const Cover small = reduced(cover);
        result = solve(small, budget, memory);
        for (u32 v : small.names) kept[v] = 1;
        for (u32 v = 0; v < cover.variables(); ++v)
          if (!kept[v]) result *= cover.total(v);
      } catch (...) {
        failure = std::current_exception();
      }
      std::lock_guard lock(mutex);
      done = true;
      finished.notify_all();
    });
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      py::gil_scoped_acquire acquire;
      if (!interrupted && PyErr_CheckSignals() != 0) {
        interrupted = true;
        stop = true;
      }
    }
    lock.unlock();
    worker.join();
    if (failure) std::rethrow_exception(failure);
  }
  if (interrupted) throw py::error_already_set();
  return py::make_tuple(integer(result.low), integer(result.high), budget.used);
}

py::dict count_pairs(const std::vector<std::int64_t>& cardinalities, const Array<u64>& value_weights,
                     const Model& a, const Model& b, const Array<std::int64_t>& pairs, bool canonical,
                     unsigned threads, std::optional<u64> node_budget, std::optional<double> seconds,
                     std::size_t memory, const std::function<void(std::size_t)>& progress) {
  Options options;
  options.canonical = canonical;
  options.threads = threads;
  options.node_budget = node_budget.value_or(options.node_budget);
  options.deadline = deadline_in(seconds);
  options.memory = memory;
  const FeatureArrays first = arrays_of(a), second = arrays_of(b);
  std::vector<Natural> weights = naturals_of(value_weights);
  std::vector<Pair> wanted;
  for (py::ssize_t k = 0; k < pairs.shape(0); ++k)
    wanted.push_back({static_cast<u32>(pairs.at(k, 0)), static_cast<u32>(pairs.at(k, 1))});
  std::unique_ptr<Comparison> comparison;
  double extracting = 0, counting = 0;
  bool interrupted = false;
  std::exception_ptr failure;
  {
    py::gil_scoped_release release;
    const auto began = Clock::now();
    const Coding coding(cardinalities, std::move(weights), first, second);
    comparison = std::make_unique<Comparison>(coding, wanted, options);
    const auto between = Clock::now();
    comparison->run([&](std::size_t done) {
      py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        interrupted = true;
        return false;
      }
      try {
        if (progress) progress(done);
      } catch (...) {
        failure = std::current_exception();
        return false;
      }
      return true;
    });
    extracting = std::chrono::duration<double>(between - began).count();
    counting = std::chrono::duration<double>(Clock::now() - between).count();
  }
  if (failure) std::rethrow_exception(failure);
  const auto [lower, upper] = integers(comparison->outcomes());
  std::vector<u64> nodes;
  for (const Outcome& outcome : comparison->outcomes())
    nodes.insert(nodes.end(), outcome.nodes.begin(), outcome.nodes.end());
  py::dict result;
  result["lower"] = lower;
  result["upper"] = upper;
  result["nodes"] = py::array_t<u64>(static_cast<py::ssize_t>(nodes.size()), nodes.data());
  result["interrupted"] = interrupted;
  result["extracting"] = extracting;
  result["counting"] = counting;
  return result;
}

}  // namespace

PYBIND11_MODULE(_kernel, module) {
  module.doc() = "The compiled twin of contextwise.counting.branch.";
  module.def("solve", &solve_cover);
  module.def("count_pairs", &count_pairs);
}

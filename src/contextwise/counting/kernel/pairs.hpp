// All pairs of a comparison: three unions each, on several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "extract.hpp"
#include "solver.hpp"

namespace contextwise {

struct Options {
  bool canonical = false;
  unsigned threads = 1;
  u64 node_budget = std::numeric_limits<u64>::max();  // for each union
  Clock::time_point deadline = Clock::time_point::max();
  std::size_t memory = std::size_t{256} << 20;  // bytes for remembered subproblems, all threads
};

// The three unions of one pair: of the first model, of the second, and of both.
struct Outcome {
  std::array<Bounds<Natural>, 3> sizes;
  std::array<u64, 3> nodes{};
};

class Comparison {
 public:
  Comparison(const Coding& coding, const std::vector<Pair>& pairs, const Options& options)
      : coding_(coding),
        pairs_(pairs),
        options_(options),
        a_(coding.model(0), pairs, coding.variables()),
        b_(coding.model(1), pairs, coding.variables()),
        outcomes_(pairs.size()) {}

  // Counts everything. `watch` is called from this thread a few times a second with the number of
  // pairs done; when it returns false the work stops and what is not counted keeps its bounds.
  void run(const std::function<bool(std::size_t)>& watch) {
    std::vector<std::thread> workers;
    const unsigned threads = std::max(1u, options_.threads);
    running_ = threads;
    for (unsigned k = 0; k < threads; ++k) workers.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, std::chrono::milliseconds(50), [&] { return !running_; })) {
      lock.unlock();
      if (!stop_ && !watch(done_)) stop_ = true;
      lock.lock();
    }
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  bool stopped() const { return stop_; }

 private:
  void work() {
    try {
      Extractor extractor(coding_, a_, b_, options_.canonical);
      for (std::size_t k = next_++; k < pairs_.size(); k = next_++) {
        count(extractor, k);
        ++done_;
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    std::lock_guard lock(mutex_);
    --running_;
    finished_.notify_all();
  }

  void count(Extractor& extractor, std::size_t k) {
    const Natural all = product(pairs_[k], {});
    Outcome& outcome = outcomes_[k];
    if (stop_) {
      outcome.sizes.fill({Natural(0), all});
      return;
    }
    auto [a, b] = extractor.covers(k, pairs_[k]);
    Simplifier(a).run();
    Simplifier(b).run();
    Cover both = a;
    both.cubes.insert(both.cubes.end(), b.cubes.begin(), b.cubes.end());
    Simplifier(both).run();
    const bool same_a = both.cubes == a.cubes, same_b = both.cubes == b.cubes;
    outcome.sizes[0] = size(a, k, all, outcome.nodes[0]);
    outcome.sizes[1] = same_a && same_b ? outcome.sizes[0] : size(b, k, all, outcome.nodes[1]);
    outcome.sizes[2] = same_a   ? outcome.sizes[0]
                       : same_b ? outcome.sizes[1]
                                : size(both, k, all, outcome.nodes[2]);
  }

  Bounds<Natural> size(const Cover& cover, std::size_t k, const Natural& all, u64& nodes) {
    const Cover small = compacted(cover);
    Budget budget{options_.node_budget, options_.deadline, &stop_};
    Bounds<Natural> uncovered = solve(small, budget, options_.memory / std::max(1u, options_.threads));
    nodes = budget.used;
    const Natural scale = product(pairs_[k], small.names);
    uncovered *= scale;
    Natural low = all, high = all;
    low -= uncovered.high;
    high -= uncovered.low;
    return {low, high};
  }

  // The number of assignments of the context variables of a pair that are not among the used ones.
  Natural product(const Pair& pair, const std::vector<u32>& used) const {
    Factor factor;
    auto at = used.begin();
    for (u32 v = 0; v < coding_.variables(); ++v) {
      if (at != used.end() && *at == v) {
        ++at;
        continue;
      }
      if (options_.canonical || (v != pair.first && v != pair.second)) factor.multiply(coding_.total(v));
    }
    Natural result(1);
    factor.apply(result);
    return result;
  }

  const Coding& coding_;
  const std::vector<Pair>& pairs_;
  Options options_;
  PairIndex a_, b_;
  std::vector<Outcome> outcomes_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  unsigned running_ = 0;
  std::exception_ptr failure_;
};

}  // namespace contextwise

// All pairs of a comparison: three unions each, on several threads.
//
// The work goes in rounds. The first visits every pair with few nodes for each union, which is
// enough for nearly all of them; later rounds give more to what is still open. So a time limit finds
// few pairs unvisited because of a hard one before them, and the hard ones are left to share the
// threads. When the time is over, a last round looks at what is unvisited, without recursion.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "unions.hpp"

namespace contextwise {

struct Options {
  bool canonical = false;
  unsigned threads = 1;
  u64 node_budget = Budget::UNLIMITED;  // for each union
  Clock::time_point deadline = Clock::time_point::max();
  std::size_t memory = std::size_t{512} << 20;  // bytes for remembered subproblems, all threads
};

class Comparison {
 public:
  // The pairs rise, and none comes twice.
  Comparison(const Coding& coding, const FeatureArrays& a, const FeatureArrays& b,
             const std::vector<Pair>& pairs, const Options& options)
      : coding_(coding), pairs_(pairs), options_(options), outcomes_(pairs.size()) {
    PairTable table;
    for (const Pair& pair : pairs) table.add(pair.first, pair.second);
    table.number();
    const auto indexed = [&](const FeatureArrays& model) {
      IndexedClaims result{ClaimMerger(model, coding).run(), {}};
      result.index = PairIndex(result.claims, table, pairs.size());
      return result;
    };
    const bool apart = options.threads > 1 && b.literals() > MANY_LITERALS;
    auto other = std::async(apart ? std::launch::async : std::launch::deferred, indexed, std::cref(b));
    a_ = indexed(a);
    b_ = other.get();
  }

  // Counts everything. `watch` is called from this thread a few times a second with the number of
  // pairs done; when it returns false the work stops and what is not counted keeps its bounds.
  void run(const std::function<bool(std::size_t)>& watch) {
    todo_.resize(pairs_.size());
    std::iota(todo_.begin(), todo_.end(), u32{0});
    for (budget_ = FIRST_BUDGET;; budget_ *= MORE) {
      budget_ = std::min(budget_, options_.node_budget);
      round(watch);
      std::erase_if(todo_, [&](u32 k) { return outcomes_[k].closed(); });
      if (todo_.empty() || stop_ || budget_ == options_.node_budget || late()) break;
    }
    std::erase_if(todo_, [&](u32 k) { return outcomes_[k].visited; });
    last_ = true;
    if (!todo_.empty()) round(watch);
  }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

 private:
  static constexpr u64 FIRST_BUDGET = 10'000;
  static constexpr u64 MORE = 64;
  static constexpr std::size_t FEW_PAIRS = 500, MANY_LITERALS = 10'000;  // what is worth a thread

  void round(const std::function<bool(std::size_t)>& watch) {
    const std::size_t wanted = std::min<std::size_t>(std::max(1u, options_.threads), todo_.size());
    std::vector<std::thread> workers;
    next_ = 0;
    running_ = 0;
    std::unique_lock lock(mutex_);
    const auto start = [&] {
      ++running_;
      workers.emplace_back([this] { work(); });
    };
    start();
    // Threads cost more than a small comparison: the others join if it is none.
    if (todo_.size() > FEW_PAIRS || !finished_.wait_for(lock, SMALL, [&] { return !running_; }))
      while (workers.size() < wanted) start();
    while (!finished_.wait_for(lock, WATCH, [&] { return !running_; })) {
      lock.unlock();
      if (!stop_ && !watch(done_)) stop_ = true;
      lock.lock();
    }
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  void work() {
    try {
      UnionCounter counter(coding_, a_, b_, options_.canonical,
                           options_.memory / std::max(1u, options_.threads));
      for (std::size_t at = next_++; at < todo_.size() && (last_ || !(stop_ || late())); at = next_++) {
        const u32 k = todo_[at];
        Budget budget{budget_, options_.deadline, &stop_};
        budget.late = last_;
        counter.run(k, pairs_[k], budget, outcomes_[k]);
        done_ += outcomes_[k].closed();
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

  bool late() const {
    return options_.deadline != Clock::time_point::max() && Clock::now() >= options_.deadline;
  }

  static constexpr std::chrono::milliseconds WATCH{50}, SMALL{1};
  const Coding& coding_;
  const std::vector<Pair>& pairs_;
  Options options_;
  IndexedClaims a_, b_;
  std::vector<Outcome> outcomes_;
  std::vector<u32> todo_;
  u64 budget_ = 0;
  bool last_ = false;
  // On lines of their own: threads that take pairs do not disturb those that look whether to stop.
  alignas(64) std::atomic<std::size_t> next_{0};
  alignas(64) std::atomic<std::size_t> done_{0};
  alignas(64) std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
};

}  // namespace contextwise

// All pairs of a comparison: three unions each, on several threads.
//
// The work goes in rounds. The first visits every pair with few nodes for each union, which is
// enough for nearly all of them; later rounds give more to what is still open. So a time limit finds
// no pair unvisited because of a hard one before it, and the hard ones are left to share the threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "extract.hpp"
#include "solve.hpp"

namespace contextwise {

struct Options {
  bool canonical = false;
  unsigned threads = 1;
  u64 node_budget = Budget::UNLIMITED;  // for each union
  Clock::time_point deadline = Clock::time_point::max();
  std::size_t memory = std::size_t{512} << 20;  // bytes for remembered subproblems, all threads
};

// The three unions of one pair: of the first model, of the second, and of both.
struct Outcome {
  std::array<Bounds<Natural>, 3> sizes;
  std::array<u64, 3> nodes{};
  bool visited = false;  // without a visit there are no bounds

  bool closed() const {
    return visited && std::all_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.closed(); });
  }
};

class Comparison {
 public:
  Comparison(const Coding& coding, const std::vector<Pair>& pairs, const Options& options)
      : coding_(coding),
        pairs_(pairs),
        options_(options),
        outcomes_(pairs.size()) {
    const auto index = [&](int m) { return PairIndex(coding.model(m), pairs, coding.variables()); };
    auto other = std::async(options.threads > 1 ? std::launch::async : std::launch::deferred, index, 1);
    a_ = index(0);
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
    for (u32 k : todo_) visit(k);
  }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

 private:
  static constexpr u64 FIRST_BUDGET = 10'000;
  static constexpr u64 MORE = 64;

  void round(const std::function<bool(std::size_t)>& watch) {
    const std::size_t wanted = std::min<std::size_t>(std::max(1u, options_.threads), todo_.size());
    std::vector<std::thread> workers;
    next_ = 0;
    running_ = wanted;
    for (std::size_t k = 0; k < wanted; ++k) workers.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
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
      Extractor extractor(coding_, a_, b_, options_.canonical);
      for (std::size_t at = next_++; at < todo_.size() && !stop_ && !late(); at = next_++) {
        count(extractor, todo_[at]);
        done_ += outcomes_[todo_[at]].closed();
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

  bool late() const { return Clock::now() >= options_.deadline; }

  void visit(u32 k) {
    if (outcomes_[k].visited) return;
    outcomes_[k].visited = true;
    outcomes_[k].sizes.fill({Natural(0), contexts(k)});
  }

  // A and B are simplified apart, and their union starts from what is left of them. Where one
  // swallows the other, or both are equal, one count serves.
  void count(Extractor& extractor, u32 k) {
    visit(k);
    auto [a, b] = extractor.covers(k, pairs_[k]);
    Simplifier simplifier(a);
    simplifier.run(a);
    simplifier.run(b);
    Cover both = a;
    both.cubes.insert(both.cubes.end(), b.cubes.begin(), b.cubes.end());
    if (!a.cubes.empty() && !b.cubes.empty()) simplifier.run(both);
    const bool same_a = both.cubes == a.cubes, same_b = both.cubes == b.cubes;
    measure(a, k, 0);
    if (same_a && same_b)
      copy(k, 0, 1);
    else
      measure(b, k, 1);
    if (same_a || same_b)
      copy(k, same_a ? 0 : 1, 2);
    else
      measure(both, k, 2);
  }

  void copy(u32 k, int from, int to) { outcomes_[k].sizes[to] = outcomes_[k].sizes[from]; }

  void measure(const Cover& cover, u32 k, int which) {
    Bounds<Natural>& size = outcomes_[k].sizes[which];
    if (size.closed()) return;
    const Cover small = compacted(cover);
    Budget budget{budget_, options_.deadline, &stop_};
    Bounds<Natural> uncovered = solve(small, budget, options_.memory / std::max(1u, options_.threads));
    outcomes_[k].nodes[which] = budget.used;
    std::vector<u32> counted = own(k);
    counted.insert(counted.end(), small.names.begin(), small.names.end());
    std::sort(counted.begin(), counted.end());
    uncovered *= coding_.all_but(counted);
    Bounds<Natural> found{contexts(k), contexts(k)};
    found.low -= uncovered.high;
    found.high -= uncovered.low;
    size.meet(found);
  }

  Natural contexts(u32 k) const { return coding_.all_but(own(k)); }

  // The variables of the pair, where they are no part of a context.
  std::vector<u32> own(u32 k) const {
    if (options_.canonical) return {};
    return {pairs_[k].first, pairs_[k].second};
  }

  static constexpr std::chrono::milliseconds WATCH{50};
  const Coding& coding_;
  const std::vector<Pair>& pairs_;
  Options options_;
  PairIndex a_, b_;
  std::vector<Outcome> outcomes_;
  std::vector<u32> todo_;
  u64 budget_ = 0;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
};

}  // namespace contextwise

// All pairs of two models: three unions each, on several threads.
//
// The work goes in rounds. The first visits every pair with few nodes for each union, which is
// enough for nearly all of them; later rounds give more to what is still open. So a time limit
// finds few pairs unvisited because of a hard one before them, and the hard ones are left to share
// the threads. When the time is over, a last round looks at what is unvisited, without recursion.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "features.hpp"
#include "index.hpp"
#include "threads.hpp"
#include "unions.hpp"

namespace contextwise {

struct PairOptions {
  bool canonical = false;
  unsigned threads = 1;
  u64 node_budget = Budget::UNLIMITED;  // for each union
  Clock::time_point deadline = Clock::time_point::max();
  std::size_t memory = std::size_t{512} << 20;  // bytes for remembered subproblems, all threads
};

// Sizes of the union of one model that are known before: the places of the pairs, and the sizes.
struct KnownSizes {
  std::vector<std::size_t> places;
  std::vector<Natural> sizes;
};

class PairCounter {
 public:
  // The pairs rise, and none comes twice.
  PairCounter(TwoModels models, std::vector<Pair> pairs, const PairOptions& options)
      : pairs_(std::move(pairs)),
        options_(options),
        models_(index_models(std::move(models), pairs_, options.threads)),
        indexed_(Clock::now()),
        found_(pairs_.size()) {}

  // Takes over sizes of the first (0) or the second model (1); to be called before `run`.
  void know(std::size_t model, const KnownSizes& known) {
    for (std::size_t k = 0; k < known.places.size(); ++k)
      found_[known.places[k]].know(model, known.sizes[k]);
  }

  // Counts everything. `watch` is called from this thread a few times a second with the number of
  // pairs done; when it returns false the work stops and what is not counted keeps its bounds.
  void run(const std::function<bool(std::size_t)>& watch) {
    todo_.resize(pairs_.size());
    std::iota(todo_.begin(), todo_.end(), u32{0});
    for (budget_ = FIRST_BUDGET;; budget_ *= MORE) {
      budget_ = std::min(budget_, options_.node_budget);
      round(watch);
      std::erase_if(todo_, [&](u32 k) { return found_[k].closed(); });
      if (todo_.empty() || stop_ || budget_ == options_.node_budget || passed(options_.deadline))
        break;
    }
    std::erase_if(todo_, [&](u32 k) { return found_[k].visited; });
    last_ = true;
    if (!todo_.empty()) round(watch);
  }

  // What is known of each pair, in their order.
  const std::vector<PairSizes>& found() const { return found_; }
  // The nodes of the recursion that were visited.
  u64 nodes() const { return nodes_; }
  // How long it took to make the models ready.
  double seconds_of_indexing() const {
    return std::chrono::duration<double>(indexed_ - began_).count();
  }

 private:
  static constexpr u64 FIRST_BUDGET = 10'000;
  static constexpr u64 MORE = 64;
  static constexpr std::size_t FEW_PAIRS = 500;
  static constexpr std::chrono::milliseconds MOMENT{2};

  // Threads cost more than a small comparison: of few pairs the calling thread begins with some,
  // and is often done before anybody could press Ctrl-C.
  void round(const std::function<bool(std::size_t)>& watch) {
    next_ = 0;
    if (todo_.size() <= FEW_PAIRS && budget_ <= FIRST_BUDGET && !last_) work(Clock::now() + MOMENT);
    if (next_ >= todo_.size()) return;
    const WatchedThreads::Work rest = [this] { work(Clock::time_point::max()); };
    const WatchedThreads::Watch look = [&] { return watch(done_); };
    WatchedThreads(stop_, rest, look).run(std::min<std::size_t>(options_.threads, todo_.size()));
  }

  // One thread: takes pairs as long as there are any, or until some time.
  void work(Clock::time_point until) {
    UnionCounter counter(models_.classes, options_.canonical,
                         options_.memory / std::max(1u, options_.threads));
    const IndexedClaims &a = models_.a, &b = models_.b;
    while (last_ || !(stop_ || passed(options_.deadline) || passed(until))) {
      const std::size_t at = next_++;
      if (at >= todo_.size()) break;
      const u32 k = todo_[at];
      Budget budget{budget_, options_.deadline, &stop_};
      budget.late = last_;
      counter.run(pairs_[k], {{{&a.claims, a.index.claims(k)}, {&b.claims, b.index.claims(k)}}},
                  budget, found_[k]);
      done_ += found_[k].closed();
    }
    nodes_ += counter.nodes();
  }

  static bool passed(Clock::time_point time) {
    return time != Clock::time_point::max() && Clock::now() >= time;
  }

  Clock::time_point began_ = Clock::now();
  std::vector<Pair> pairs_;
  PairOptions options_;
  IndexedModels models_;
  Clock::time_point indexed_;
  std::vector<PairSizes> found_;
  std::vector<u32> todo_;
  u64 budget_ = 0;
  bool last_ = false;
  // On lines of their own: threads that take pairs do not disturb those that look whether to stop.
  alignas(64) std::atomic<std::size_t> next_{0};
  alignas(64) std::atomic<std::size_t> done_{0};
  alignas(64) std::atomic<bool> stop_{false};
  std::atomic<u64> nodes_{0};
};

}  // namespace contextwise

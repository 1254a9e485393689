// Counts three unions for each pair of two models, on several threads.
//
// The work is done in rounds. The first round gives each union few nodes, which suffices for nearly
// all pairs. Later rounds give more nodes to the pairs that are still open. So a hard pair does not
// keep others from being visited before a time limit, and the hard pairs share the threads at the
// end. After the time limit, a last round visits the remaining pairs without recursion.
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
  u64 node_budget = Budget::UNLIMITED;  // per union
  Clock::time_point deadline = Clock::time_point::max();
  std::size_t memory = std::size_t{512} << 20;  // bytes of cached subproblems, over all threads
};

// Known sizes of the unions of one model, for the pairs at some places.
struct KnownSizes {
  std::vector<std::size_t> places;
  std::vector<Natural> sizes;
};

class PairCounter {
 public:
  // The pairs must be distinct and in rising order.
  PairCounter(TwoModels models, std::vector<Pair> pairs, const PairOptions& options)
      : pairs_(std::move(pairs)),
        options_(options),
        models_(index_models(std::move(models), pairs_, options.threads)),
        sizes_(pairs_.size()) {}

  // Sets sizes of the first (0) or the second model (1) that are known. Call it before `run`.
  void know(std::size_t model, const KnownSizes& known) {
    for (std::size_t k = 0; k < known.places.size(); ++k)
      sizes_[known.places[k]].know(model, known.sizes[k]);
  }

  // Counts all pairs. A few times a second it calls `watch` with the number of finished pairs, from
  // the calling thread. When `watch` returns false, the work stops and open pairs keep their
  // bounds.
  void run(const std::function<bool(std::size_t)>& watch) {
    todo_.resize(pairs_.size());
    std::iota(todo_.begin(), todo_.end(), u32{0});
    for (budget_ = FIRST_BUDGET;; budget_ *= MORE) {
      budget_ = std::min(budget_, options_.node_budget);
      round(watch);
      std::erase_if(todo_, [&](u32 k) { return sizes_[k].closed(); });
      if (todo_.empty() || stop_ || budget_ == options_.node_budget || passed(options_.deadline))
        break;
    }
    std::erase_if(todo_, [&](u32 k) { return sizes_[k].visited; });
    last_ = true;
    if (!todo_.empty()) round(watch);
  }

  // Returns the bounds of each pair.
  const std::vector<PairSizes>& sizes() const { return sizes_; }
  // Returns the weight of all assignments, in the unit of the sizes; no size is larger.
  Natural whole() const { return models_.classes.whole(); }
  // Returns the limit of the numbers; see ValueClasses.
  u32 limit() const { return models_.classes.limit(); }
  // Returns the nodes that the recursion visited.
  u64 nodes() const { return nodes_; }

 private:
  static constexpr u64 FIRST_BUDGET = 10'000;
  static constexpr u64 MORE = 64;
  static constexpr std::size_t FEW_PAIRS = 500;
  static constexpr std::chrono::milliseconds MOMENT{2};

  // Starting threads costs more than a small comparison, so the calling thread starts with few
  // pairs alone. It is often done before Ctrl-C could be pressed.
  void round(const std::function<bool(std::size_t)>& watch) {
    next_ = 0;
    if (todo_.size() <= FEW_PAIRS && budget_ <= FIRST_BUDGET && !last_) work(Clock::now() + MOMENT);
    if (next_ >= todo_.size()) return;
    const WatchedThreads::Work rest = [this] { work(Clock::time_point::max()); };
    const WatchedThreads::Watch look = [&] { return watch(done_); };
    WatchedThreads(stop_, rest, look).run(std::min<std::size_t>(options_.threads, todo_.size()));
  }

  // The work of one thread: takes pairs until none is left or a time is reached.
  void work(Clock::time_point until) {
    UnionCounter counter(models_.classes, options_.canonical,
                         options_.memory / std::max(1u, options_.threads));
    const IndexedFeatures &a = models_.a, &b = models_.b;
    while (last_ || !(stop_ || passed(options_.deadline) || passed(until))) {
      const std::size_t at = next_++;
      if (at >= todo_.size()) break;
      const u32 k = todo_[at];
      Budget budget{budget_, options_.deadline, &stop_};
      budget.late = last_;
      counter.run(pairs_[k], {{{&a.merged, a.index.features(k)}, {&b.merged, b.index.features(k)}}},
                  budget, sizes_[k]);
      done_ += sizes_[k].closed();
    }
    nodes_ += counter.nodes();
  }

  static bool passed(Clock::time_point time) {
    return time != Clock::time_point::max() && Clock::now() >= time;
  }

  std::vector<Pair> pairs_;
  PairOptions options_;
  IndexedModels models_;
  std::vector<PairSizes> sizes_;
  std::vector<u32> todo_;
  u64 budget_ = 0;
  bool last_ = false;
  // On cache lines of their own, so that threads which take pairs do not slow down others.
  alignas(64) std::atomic<std::size_t> next_{0};
  alignas(64) std::atomic<std::size_t> done_{0};
  alignas(64) std::atomic<bool> stop_{false};
  std::atomic<u64> nodes_{0};
};

}  // namespace contextwise

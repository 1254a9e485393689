// Searches many pairs on several threads, in rounds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../../counting/kernel/budget.hpp"
#include "../../counting/kernel/threads.hpp"
#include "search.hpp"

namespace contextwise::odds {

// What is known of one pair: the sizes of the joint verdicts at each tolerance, and of all
// contexts.
struct Found {
  std::size_t words = 0;  // of each size; 0: there was no time for this pair
  WordList sizes, whole;
  bool open = true;
};

struct Options {
  u64 nodes = Budget::UNLIMITED;  // for each pair
  Clock::time_point deadline = Clock::time_point::max();
  unsigned threads = 1;
};

// Each round allows more nodes to the pairs that are still open, so few hard pairs come last.
class PairSearches {
 public:
  using Watch = std::function<bool(std::size_t)>;

  PairSearches(std::span<const i64> cardinalities, const WeightedModel (&models)[2],
               std::vector<Pair> pairs, std::vector<i64> thresholds, const Options& options)
      : cardinalities_(cardinalities),
        models_{models[0], models[1]},
        pairs_(std::move(pairs)),
        thresholds_(std::move(thresholds)),
        options_(options),
        found_(pairs_.size()) {}

  void run(const Watch& watch) {
    todo_.resize(pairs_.size());
    std::iota(todo_.begin(), todo_.end(), std::size_t{0});
    for (u64 nodes = FIRST; !todo_.empty() && !stop_; nodes *= MORE) {
      budget_ = std::min(nodes, options_.nodes);
      next_ = 0;
      WatchedThreads(
          stop_, [&] { work(); }, [&] { return watch(done_); })
          .run(std::min<std::size_t>(options_.threads, todo_.size()));
      std::erase_if(todo_, [&](std::size_t k) { return !found_[k].open; });
      if (budget_ == options_.nodes) break;
    }
  }

  const std::vector<Found>& found() const { return found_; }
  u64 nodes() const { return nodes_; }

 private:
  static constexpr u64 FIRST = 1 << 8, MORE = 32;
  // With a deadline, a pair over its budget is searched again without small nodes, for close
  // bounds.
  static constexpr double SMALL = 16;

  void work() {
    const bool has_limit =
        options_.deadline != Clock::time_point::max() || options_.nodes != Budget::UNLIMITED;
    for (std::size_t at = next_++; at < todo_.size() && !stop_; at = next_++) {
      const std::size_t k = todo_[at];
      const Problem problem(cardinalities_, models_, k, pairs_[k]);
      Search search(problem, thresholds_);
      Budget budget{budget_, options_.deadline, &stop_};
      WordList sizes = search.run(budget, 0);
      if (search.cut() && has_limit && budget.extend(budget.used + budget_))
        sizes = search.run(budget, SMALL / static_cast<double>(budget_));
      nodes_ += budget.used;
      if (budget.late) stop_ = true;
      if (budget.late && found_[k].words) return;  // the bounds of the last round are closer
      found_[k] = {search.words(), std::move(sizes), search.whole(), search.cut()};
      done_ += !search.cut();
    }
  }

  std::span<const i64> cardinalities_;
  WeightedModel models_[2];
  std::vector<Pair> pairs_;
  std::vector<i64> thresholds_;
  Options options_;
  std::vector<Found> found_;
  std::vector<std::size_t> todo_;
  u64 budget_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<u64> nodes_{0};
};

}  // namespace contextwise::odds

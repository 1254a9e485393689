// Follows the unions of a fixed true model and a guess that changes feature by feature.
//
// A feature affects only the pairs inside its scope, and of a pair only the contexts inside its
// cube. Adding it makes those contexts dependent that no other feature of the guess covers. So the
// tracker counts inside the cube, where few variables are left and few features hold. It keeps a
// list of the features on each pair. Every value is its own class, because later features are not
// known.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "classes.hpp"
#include "features.hpp"
#include "hashing.hpp"
#include "merged_features.hpp"
#include "unions.hpp"

namespace contextwise {

// By how much two unions of a pair grow and shrink: that of the guess, and that of both models.
struct Growth {
  std::array<Natural, 2> more, less;
  bool closed = false;
};

class Tracker {
 public:
  Tracker(std::vector<std::int64_t> cardinalities, const std::vector<Natural>& value_weights,
          const FeatureArrays& a, const FeatureArrays& b, bool canonical, std::size_t memory)
      : classes_(std::move(cardinalities), value_weights),
        canonical_(canonical),
        counter_(classes_, canonical, memory),
        fixed_(classes_.variables(), FREE) {
    const RelevantFeatures all(a);
    a_ = FeatureMerger(all, classes_).run();
    b_.stride = a_.stride = classes_.stride();
    for (u32 c = 0; c < a_.size(); ++c)
      for_each_pair(a_.scope(c), [&](PairLists& lists) { lists.a.push_back(c); });
    for (u32 f = 0; f < b.count; ++f) insert(b_.add(b, f, classes_));
  }
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // Registers a feature and returns its number. `insert` adds it to the guess.
  u32 know(const FeatureArrays& model) { return b_.add(model, 0, classes_); }

  void insert(u32 feature) {
    for_each_pair(b_.scope(feature), [&](PairLists& lists) { lists.b.push_back(feature); });
  }
  void erase(u32 feature) {
    for_each_pair(b_.scope(feature), [&](PairLists& lists) { std::erase(lists.b, feature); });
  }

  // Counts how the unions of some pairs change if features are added to the guess and others
  // removed, one after the other. Changes that are closed already are kept.
  void count(std::span<const Pair> pairs, std::span<const u32> more, std::span<const u32> less,
             const Budget& budget, std::vector<Growth>& changes) {
    changes.resize(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (changes[k].closed) continue;
      changes[k] = {{}, {}, true};
      const PairLists& lists = lists_of(pairs[k].first, pairs[k].second);
      guess_ = lists.b;
      for (u32 feature : less) {
        if (!has(b_.scope(feature), pairs[k])) continue;
        std::erase(guess_, feature);
        add(pairs[k], feature, lists.a, budget, changes[k].less, changes[k].closed);
      }
      for (u32 feature : more) {
        if (!has(b_.scope(feature), pairs[k])) continue;
        add(pairs[k], feature, lists.a, budget, changes[k].more, changes[k].closed);
        guess_.push_back(feature);
      }
    }
  }

 private:
  static constexpr u32 FREE = ~u32{0};
  static constexpr std::size_t MOST_PARTS = 8;

  struct PairLists {
    u64 key = 0;
    std::vector<u32> a, b;  // features of both models
  };

  // Adds the number of contexts of a feature's cube that guess_ does not cover, and the number that
  // both models do not cover.
  void add(const Pair& pair, u32 feature, std::span<const u32> true_features, const Budget& budget,
           std::array<Natural, 2>& sums, bool& closed) {
    if (const std::size_t parts = choose(pair, feature))
      for (std::size_t part = 0; part < parts; ++part) {
        fix(part);
        add_inside(pair, true_features, budget, sums, closed);
      }
    else
      add_by_difference(pair, feature, true_features, budget, sums, closed);
    for (u32 v : without_) fixed_[v] = FREE;
  }

  // Lists the variables that a feature tests and the classes that it allows of each. Returns the
  // number of their combinations, the parts of the cube; 0 if there are too many to count one by
  // one.
  std::size_t choose(const Pair& pair, u32 feature) {
    without_.clear();
    choices_.clear();
    std::size_t parts = 1;
    const u64* forbidden = b_.forbidden_by(feature).data();
    for (u32 v : b_.tests(feature)) {
      const u64* const set = forbidden;
      forbidden += b_.stride;
      if (!canonical_ && pair.has(v)) continue;
      std::vector<u32>& allowed = choices_.emplace_back();
      for (u32 k = 0; k < classes_.count(v); ++k)
        if (!(set[k / 64] >> k % 64 & 1)) allowed.push_back(k);
      parts *= allowed.size();
      if (parts > MOST_PARTS) return 0;
      without_.push_back(v);
    }
    return parts;
  }

  // Fixes these variables to the classes of one part.
  void fix(std::size_t part) {
    weight_ = Natural(1);
    for (std::size_t k = 0; k < without_.size(); ++k) {
      const u32 v = without_[k], chosen = choices_[k][part % choices_[k].size()];
      part /= choices_[k].size();
      fixed_[v] = chosen;
      if (!classes_.unit(v)) weight_ *= classes_.weight(v, chosen);
    }
  }

  void add_inside(const Pair& pair, std::span<const u32> true_features, const Budget& budget,
                  std::array<Natural, 2>& sums, bool& closed) {
    keep_holding(b_, guess_, holding_[0]);
    keep_holding(a_, true_features, holding_[1]);
    counter_.begin(pair, without_);
    const Natural contexts = counter_.contexts();
    PairSizes bounds;
    counter_.run({{{&b_, holding_[0]}, {&a_, holding_[1]}}}, budget, bounds, false);
    for (std::size_t k = 0; k < 2; ++k) {
      closed &= bounds.sizes[2 * k].closed();
      Natural open = contexts;
      open -= bounds.sizes[2 * k].low;
      open *= weight_;
      sums[k] += open;
    }
  }

  // Keeps the features that hold somewhere inside the fixed cube.
  void keep_holding(const MergedFeatures& model, std::span<const u32> features,
                    std::vector<u32>& kept) {
    kept.clear();
    for (u32 feature : features) {
      const u64* forbidden = model.forbidden_by(feature).data();
      const bool holds = std::ranges::all_of(model.tests(feature), [&](u32 v) {
        const u32 fixed = fixed_[v];
        const bool allowed = fixed == FREE || !(forbidden[fixed / 64] >> fixed % 64 & 1);
        forbidden += model.stride;
        return allowed;
      });
      if (holds) kept.push_back(feature);
    }
  }

  // Adds the difference of the unions with and without the feature.
  void add_by_difference(const Pair& pair, u32 feature, std::span<const u32> true_features,
                         const Budget& budget, std::array<Natural, 2>& sums, bool& closed) {
    PairSizes before, after;
    counter_.run(pair, {{{&a_, true_features}, {&b_, guess_}}}, budget, before);
    guess_.push_back(feature);
    counter_.run(pair, {{{&a_, true_features}, {&b_, guess_}}}, budget, after);
    guess_.pop_back();
    closed &= before.closed() && after.closed();
    for (std::size_t k = 0; k < 2 && closed; ++k) {
      Natural grown = after.sizes[k + 1].low;
      grown -= before.sizes[k + 1].low;
      sums[k] += grown;
    }
  }

  static u64 key_of(u32 first, u32 second) { return u64{first} << 32 | second; }
  static bool has(std::span<const u32> scope, const Pair& pair) {
    return std::ranges::binary_search(scope, pair.first) &&
           std::ranges::binary_search(scope, pair.second);
  }

  // Returns the lists of a pair. They are empty if it is new.
  PairLists& lists_of(u32 first, u32 second) {
    const u64 key = key_of(first, second);
    const u32 at = table_.find_or_insert(mix(0, key), static_cast<u32>(lists_.size()),
                                         [&](u32 k) { return lists_[k].key == key; });
    if (at != HashTable::NONE) return lists_[at];
    lists_.emplace_back().key = key;
    return lists_.back();
  }

  template <class Action>
  void for_each_pair(std::span<const u32> scope, Action action) {
    for (std::size_t i = 0; i < scope.size(); ++i)
      for (std::size_t j = i + 1; j < scope.size(); ++j) action(lists_of(scope[i], scope[j]));
  }

  ValueClasses classes_;
  bool canonical_;
  MergedFeatures a_, b_;
  UnionCounter counter_;
  HashTable table_;
  std::vector<PairLists> lists_;
  // State of the feature that is added or removed.
  std::vector<u32> fixed_;                 // class of each variable that its cube fixes, or FREE
  std::vector<u32> without_;               // these variables
  std::vector<std::vector<u32>> choices_;  // classes that it allows of each
  Natural weight_;                         // product of the weights of the fixed classes
  // Scratch space.
  std::vector<u32> guess_;
  std::array<std::vector<u32>, 2> holding_;
};

}  // namespace contextwise

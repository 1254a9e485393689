// A guess that changes feature by feature, beside a true model that stays.
//
// A feature touches only the pairs inside its scope. For these the claims of both models are at
// hand in lists, so that a change costs what it touches: the covers of its pairs, and their unions.
// Every value is a class of its own, because nobody knows which features will come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "claims.hpp"
#include "classes.hpp"
#include "features.hpp"
#include "hashing.hpp"
#include "unions.hpp"

namespace contextwise {

class Tracker {
 public:
  Tracker(std::vector<std::int64_t> cardinalities, const std::vector<Natural>& value_weights,
          const FeatureArrays& a, const FeatureArrays& b, bool canonical, std::size_t memory)
      : classes_(std::move(cardinalities), value_weights), counter_(classes_, canonical, memory) {
    const SpeakingFeatures all(a);
    a_ = ClaimMerger(all, classes_).run();
    b_.stride = a_.stride = classes_.stride();
    for (u32 c = 0; c < a_.size(); ++c)
      for_each_pair(a_.scope(c), [&](PairLists& lists) { lists.a.push_back(c); });
    for (u32 f = 0; f < b.count; ++f) insert(b_.add(b, f, classes_));
  }
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // Makes a feature known; it belongs to the guess only after it was inserted.
  u32 know(const FeatureArrays& model) { return b_.add(model, 0, classes_); }

  void insert(u32 claim) {
    for_each_pair(b_.scope(claim), [&](PairLists& lists) { lists.b.push_back(claim); });
  }
  void erase(u32 claim) {
    for_each_pair(b_.scope(claim), [&](PairLists& lists) { std::erase(lists.b, claim); });
  }

  // The unions of some pairs, as they would be with some claims more and others less in the guess.
  void count(std::span<const Pair> pairs, std::span<const u32> more, std::span<const u32> less,
             const Budget& budget, std::vector<PairSizes>& found) {
    found.resize(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      PairLists& lists = lists_of(pairs[k].first, pairs[k].second);
      mine_.clear();
      for (u32 claim : lists.b)
        if (std::ranges::find(less, claim) == less.end()) mine_.push_back(claim);
      for (u32 claim : more)
        if (has(b_.scope(claim), pairs[k])) mine_.push_back(claim);
      counter_.run(pairs[k], {{{&a_, lists.a}, {&b_, mine_}}}, budget, found[k],
                   lists.counted ? &lists.size : nullptr);
      if (!lists.counted && found[k].sizes[0].closed()) {
        lists.size = found[k].sizes[0].low;
        lists.counted = true;
      }
    }
  }

 private:
  struct PairLists {
    u64 key = 0;
    std::vector<u32> a, b;  // the claims of both models
    Natural size{};         // of the true model's union, once it was counted
    bool counted = false;
  };

  static u64 key_of(u32 first, u32 second) { return u64{first} << 32 | second; }
  static bool has(std::span<const u32> scope, const Pair& pair) {
    return std::ranges::binary_search(scope, pair.first) &&
           std::ranges::binary_search(scope, pair.second);
  }

  // The lists of a pair, empty ones if nobody has spoken of it.
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
  Claims a_, b_;
  UnionCounter counter_;
  HashTable table_;
  std::vector<PairLists> lists_;
  std::vector<u32> mine_;  // scratch space
};

}  // namespace contextwise

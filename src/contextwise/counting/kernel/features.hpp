// The features of a model as arrays, and which of them speak of some pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "hashing.hpp"

namespace contextwise {

// The arrays of contextwise/models/features.py, which says what they hold; they live with the
// caller.
struct FeatureArrays {
  const std::int64_t* starts;
  const std::int32_t* variables;
  const u64* values;
  std::size_t count;  // features
  std::size_t words;  // of a value set

  std::size_t begin(u32 feature) const { return static_cast<std::size_t>(starts[feature]); }
  std::span<const std::int32_t> scope(u32 feature) const {
    return {variables + starts[feature], begin(feature + 1) - begin(feature)};
  }
  std::span<const u64> value_set(std::size_t literal) const {
    return {values + literal * words, words};
  }
};

// Two variables by their numbers, the smaller first.
struct Pair {
  u32 first, second;

  bool has(u32 variable) const { return variable == first || variable == second; }
};

// A set of pairs, numbered in rising order. A block holds up to 64 of them: one first variable, and
// a bit for each second one; blocks are found by hashing, so that the table is as large as the set
// and not as the square of the variables.
class PairTable {
 public:
  static constexpr u32 NONE = HashTable::NONE;

  // The pairs rise, and none comes twice.
  PairTable(std::span<const Pair> pairs, std::size_t variables) : marked_(variables, 0) {
    u32 number = 0;
    for (const Pair& pair : pairs) {
      const u64 key = key_of(pair.first, pair.second);
      if (blocks_.empty() || blocks_.back().key != key) {
        table_.insert(mix(0, key), static_cast<u32>(blocks_.size()));
        blocks_.push_back({key, 0, number});
      }
      blocks_.back().bits |= bit_of(pair.second);
      marked_[pair.first] = marked_[pair.second] = 1;
      ++number;
    }
    count_ = number;
  }

  std::size_t size() const { return count_; }

  // The number of a pair, or NONE.
  u32 find(u32 first, u32 second) const {
    const u64 key = key_of(first, second);
    const u32 at = table_.find(mix(0, key), [&](u32 block) { return blocks_[block].key == key; });
    if (at == NONE || !(blocks_[at].bits & bit_of(second))) return NONE;
    return blocks_[at].before + static_cast<u32>(ones(blocks_[at].bits & (bit_of(second) - 1)));
  }

  // Calls action(number) for each pair of the set inside a rising scope, until it returns true.
  // Variables of no pair are passed over, so that few pairs cost little.
  template <class Variable, class Action>
  bool any_of(std::span<const Variable> scope, Action action) const {
    for (std::size_t i = 0; i < scope.size(); ++i) {
      if (!marked_[static_cast<std::size_t>(scope[i])]) continue;
      for (std::size_t j = i + 1; j < scope.size(); ++j) {
        if (!marked_[static_cast<std::size_t>(scope[j])]) continue;
        const u32 pair = find(static_cast<u32>(scope[i]), static_cast<u32>(scope[j]));
        if (pair != NONE && action(pair)) return true;
      }
    }
    return false;
  }

 private:
  struct Block {
    u64 key;
    u64 bits;
    u32 before;  // how many pairs stand in the blocks before
  };

  static u64 key_of(u32 first, u32 second) { return u64{first} << 32 | second / 64; }
  static u64 bit_of(u32 second) { return u64{1} << second % 64; }

  HashTable table_;
  std::vector<Block> blocks_;
  std::vector<char> marked_;  // the variables of some pair
  std::size_t count_ = 0;
};

// A model as far as some pairs are concerned: features that have both variables of none of them are
// left out. With many pairs nearly every feature speaks of one, and looking would not pay.
struct SpeakingFeatures {
  FeatureArrays arrays;
  std::vector<u32> features;  // rising

  // All features.
  explicit SpeakingFeatures(const FeatureArrays& model) : arrays(model), features(model.count) {
    std::iota(features.begin(), features.end(), u32{0});
  }
  SpeakingFeatures(const FeatureArrays& model, const PairTable& pairs) : arrays(model) {
    const bool all = pairs.size() > model.count / 32;
    features.reserve(all ? model.count : 0);
    for (u32 f = 0; f < model.count; ++f)
      if (all || pairs.any_of(model.scope(f), [](u32) { return true; })) features.push_back(f);
  }

  std::size_t literals() const {
    std::size_t count = 0;
    for (u32 f : features) count += arrays.scope(f).size();
    return count;
  }
};

// The pairs that some feature has in its scope, rising. A bit for each two variables says whether.
inline std::vector<Pair> covered_pairs(std::span<const FeatureArrays> models,
                                       std::size_t variables) {
  const std::size_t words = (variables + 63) / 64;
  std::vector<u64> seen(variables * words, 0);
  for (const FeatureArrays& model : models)
    for (u32 f = 0; f < model.count; ++f) {
      const auto scope = model.scope(f);
      for (std::size_t i = 0; i + 1 < scope.size(); ++i) {
        u64* const row = seen.data() + static_cast<std::size_t>(scope[i]) * words;
        for (const std::int32_t second : scope.subspan(i + 1))
          row[second / 64] |= u64{1} << second % 64;
      }
    }
  std::vector<Pair> found;
  for (u32 first = 0; first < variables; ++first)
    for_each_bit({seen.data() + first * words, words},
                 [&](std::size_t second) { found.push_back({first, static_cast<u32>(second)}); });
  return found;
}

// The same among some pairs, which rise, none of them twice.
inline std::vector<Pair> covered_pairs(std::span<const FeatureArrays> models, std::size_t variables,
                                       std::span<const Pair> among) {
  const PairTable table(among, variables);
  std::vector<char> seen(among.size(), 0);
  for (const FeatureArrays& model : models)
    for (u32 f = 0; f < model.count; ++f)
      table.any_of(model.scope(f), [&](u32 pair) {
        seen[pair] = 1;
        return false;
      });
  std::vector<Pair> found;
  for (std::size_t k = 0; k < among.size(); ++k)
    if (seen[k]) found.push_back(among[k]);
  return found;
}

}  // namespace contextwise

// The features of a model as arrays, and those of them that concern some pairs.
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

// The arrays described in contextwise/models/features.py. The caller owns them.
struct FeatureArrays {
  const std::int64_t* starts;
  const std::int32_t* variables;
  const u64* values;
  std::size_t count;                    // number of features
  std::size_t words;                    // words per value set
  const std::int32_t* pairs = nullptr;  // the two variables of each feature's one pair, or null

  std::size_t begin(u32 feature) const { return static_cast<std::size_t>(starts[feature]); }
  std::span<const std::int32_t> scope(u32 feature) const {
    return {variables + starts[feature], begin(feature + 1) - begin(feature)};
  }
  // The variables whose pairs a feature covers.
  std::span<const std::int32_t> covered(u32 feature) const {
    return pairs ? std::span<const std::int32_t>{pairs + 2 * std::size_t{feature}, 2}
                 : scope(feature);
  }
  std::span<const u64> value_set(std::size_t literal) const {
    return {values + literal * words, words};
  }
};

// Two variables, the smaller number first.
struct Pair {
  u32 first, second;

  bool has(u32 variable) const { return variable == first || variable == second; }
  auto operator<=>(const Pair&) const = default;
};

// A set of pairs, numbered in rising order. A block holds up to 64 pairs with the same first
// variable, one bit per second variable. Blocks are found by hashing, so the size of the table
// depends on the number of pairs and not on the square of the number of variables.
class PairTable {
 public:
  static constexpr u32 NONE = HashTable::NONE;

  // The pairs must be distinct and in rising order.
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

  // Returns the number of a pair, or NONE.
  u32 find(u32 first, u32 second) const {
    const u64 key = key_of(first, second);
    const u32 at = table_.find(mix(0, key), [&](u32 block) { return blocks_[block].key == key; });
    if (at == NONE || !(blocks_[at].bits & bit_of(second))) return NONE;
    return blocks_[at].before + static_cast<u32>(ones(blocks_[at].bits & (bit_of(second) - 1)));
  }

  // Calls action(number) for each pair of the set inside a sorted scope until it returns true.
  // It skips variables that are in no pair, which makes few pairs cheap.
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
    u32 before;  // number of pairs in earlier blocks
  };

  static u64 key_of(u32 first, u32 second) { return u64{first} << 32 | second / 64; }
  static u64 bit_of(u32 second) { return u64{1} << second % 64; }

  HashTable table_;
  std::vector<Block> blocks_;
  std::vector<char> marked_;  // whether a variable is in some pair
  std::size_t count_ = 0;
};

// The features of a model that cover some pair. If there are many
// pairs, it keeps all features: nearly all would pass, and the test would not pay.
struct RelevantFeatures {
  FeatureArrays arrays;
  std::vector<u32> features;  // in rising order

  // Keeps all features.
  explicit RelevantFeatures(const FeatureArrays& model) : arrays(model), features(model.count) {
    std::iota(features.begin(), features.end(), u32{0});
  }
  RelevantFeatures(const FeatureArrays& model, const PairTable& pairs) : arrays(model) {
    const bool all = pairs.size() > model.count / 32;
    features.reserve(all ? model.count : 0);
    for (u32 f = 0; f < model.count; ++f)
      if (all || pairs.any_of(model.covered(f), [](u32) { return true; })) features.push_back(f);
  }

  std::size_t literals() const {
    std::size_t count = 0;
    for (u32 f : features) count += arrays.scope(f).size();
    return count;
  }
};

// Calls action(i, j) for each pair that some feature covers, as often as it does.
template <class Action>
void for_each_covered(std::span<const FeatureArrays> models, Action action) {
  for (const FeatureArrays& model : models)
    for (u32 f = 0; f < model.count; ++f) {
      const auto scope = model.covered(f);
      for (std::size_t i = 0; i + 1 < scope.size(); ++i)
        for (const std::int32_t second : scope.subspan(i + 1))
          action(static_cast<u32>(scope[i]), static_cast<u32>(second));
    }
}

// Lists the pairs that some feature covers, in rising order. One bit per pair of variables is
// fastest while they are few. Otherwise it sorts the pairs.
inline std::vector<Pair> covered_pairs(std::span<const FeatureArrays> models,
                                       std::size_t variables) {
  constexpr std::size_t MOST_BITS = std::size_t{1} << 26;
  const std::size_t words = (variables + 63) / 64;
  std::vector<Pair> pairs;
  if (variables * variables <= MOST_BITS) {
    std::vector<u64> seen(variables * words, 0);
    for_each_covered(models, [&](u32 first, u32 second) {
      seen[first * words + second / 64] |= u64{1} << second % 64;
    });
    for (u32 first = 0; first < variables; ++first)
      for_each_bit({seen.data() + first * words, words},
                   [&](std::size_t second) { pairs.push_back({first, static_cast<u32>(second)}); });
    return pairs;
  }
  for_each_covered(models, [&](u32 first, u32 second) { pairs.push_back({first, second}); });
  std::ranges::sort(pairs);
  const auto repeated = std::ranges::unique(pairs);
  pairs.erase(repeated.begin(), repeated.end());
  return pairs;
}

// The same among given pairs, which must be distinct and in rising order.
inline std::vector<Pair> covered_pairs(std::span<const FeatureArrays> models, std::size_t variables,
                                       std::span<const Pair> among) {
  const PairTable table(among, variables);
  std::vector<char> seen(among.size(), 0);
  for (const FeatureArrays& model : models)
    for (u32 f = 0; f < model.count; ++f)
      table.any_of(model.covered(f), [&](u32 pair) {
        seen[pair] = 1;
        return false;
      });
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < among.size(); ++k)
    if (seen[k]) pairs.push_back(among[k]);
  return pairs;
}

}  // namespace contextwise

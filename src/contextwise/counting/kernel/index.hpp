// Two models prepared for counting: their features, and the features on each pair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "classes.hpp"
#include "features.hpp"
#include "involved.hpp"
#include "merged_features.hpp"

namespace contextwise {

// The features on each pair of a table, in rising order.
class PairIndex {
 public:
  PairIndex(const MergedFeatures& merged, const PairTable& pairs) : starts_(pairs.size() + 1, 0) {
    std::vector<std::pair<u32, u32>> entries;  // pair, feature
    std::size_t most = 0;
    for (u32 c = 0; c < merged.size(); ++c) {
      const std::size_t length = merged.scope(c).size();
      most += length * (length - 1) / 2;
    }
    entries.reserve(most);
    for (u32 c = 0; c < merged.size(); ++c)
      pairs.any_of(merged.scope(c), [&](u32 pair) {
        entries.push_back({pair, c});
        ++starts_[pair + 1];
        return false;
      });
    for (std::size_t k = 0; k < pairs.size(); ++k) starts_[k + 1] += starts_[k];
    features_.resize(entries.size());
    std::vector<std::size_t> at(starts_.begin(), starts_.end() - 1);
    for (const auto& [pair, feature] : entries) features_[at[pair]++] = feature;
  }

  std::span<const u32> features(std::size_t pair) const {
    return {features_.data() + starts_[pair], starts_[pair + 1] - starts_[pair]};
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<u32> features_;
};

// The features of a model, and the features on each pair.
struct IndexedFeatures {
  MergedFeatures merged;
  PairIndex index;

  IndexedFeatures(const RelevantFeatures& model, const ValueClasses& classes,
                  const PairTable& pairs)
      : merged(FeatureMerger(model, classes).run()), index(merged, pairs) {}
};

// Limits the numbers of contexts to what the pairs involve. Small numbers need no limit.
inline void limit_numbers(ValueClasses& classes, std::span<const MergedFeatures* const> models,
                          std::span<const Pair> pairs) {
  constexpr std::size_t SMALL = 60;  // bits
  if (classes.whole().bits() > SMALL)
    classes.limit(InvolvedVariables(models, classes.variables()).most(pairs));
}

// Two models over the same variables. The caller owns the arrays.
struct TwoModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  FeatureArrays a, b;
};

// Two models prepared for some pairs. It does not refer to the caller's arrays.
struct IndexedModels {
  ValueClasses classes;
  IndexedFeatures a, b;
};

// Prepares two models. For features without a wanted pair it only reads the scope.
inline IndexedModels index_models(TwoModels models, std::span<const Pair> pairs, unsigned threads) {
  constexpr std::size_t WORTH_A_THREAD = 10'000;  // literals
  const PairTable table(pairs, models.cardinalities.size());
  const std::array<RelevantFeatures, 2> both{RelevantFeatures(models.a, table),
                                             RelevantFeatures(models.b, table)};
  const auto& [a, b] = both;
  ValueClasses classes(std::move(models.cardinalities), models.value_weights, both);
  const bool apart = threads > 1 && b.literals() > WORTH_A_THREAD;
  auto second = std::async(apart ? std::launch::async : std::launch::deferred,
                           [&, &b = b] { return IndexedFeatures(b, classes, table); });
  IndexedFeatures first(a, classes, table);
  IndexedFeatures other = second.get();
  const std::array<const MergedFeatures*, 2> merged{&first.merged, &other.merged};
  limit_numbers(classes, merged, pairs);
  return {std::move(classes), std::move(first), std::move(other)};
}

}  // namespace contextwise

// The merged features of many models, each distinct one stored once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "classes.hpp"
#include "features.hpp"
#include "hashing.hpp"
#include "index.hpp"
#include "merged_features.hpp"

namespace contextwise {

// Many models over the same variables. The caller owns the arrays.
struct ManyModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  std::vector<FeatureArrays> arrays;
};

// The features of many models on some pairs. Equal features of several models have one number.
class FeaturePool {
 public:
  FeaturePool(const ManyModels& models, std::span<const Pair> pairs)
      : FeaturePool(models, PairTable(pairs, models.cardinalities.size())) {
    const std::array<const MergedFeatures*, 1> all{&merged_};
    limit_numbers(classes_, all, pairs);
  }

  std::size_t models() const { return indices_.size(); }
  const ValueClasses& classes() const { return classes_; }
  const MergedFeatures& features() const { return merged_; }

  // Appends the numbers of a model's features on a pair, in rising order.
  void append(std::size_t model, std::size_t pair, std::vector<u32>& result) const {
    const auto begin = static_cast<std::ptrdiff_t>(result.size());
    for (u32 c : indices_[model].features(pair)) result.push_back(numbers_[model][c]);
    std::sort(result.begin() + begin, result.end());
  }

 private:
  FeaturePool(const ManyModels& models, const PairTable& pairs)
      : FeaturePool(models, relevant(models.arrays, pairs), pairs) {}
  FeaturePool(const ManyModels& models, const std::vector<RelevantFeatures>& features,
              const PairTable& pairs)
      : classes_(models.cardinalities, models.value_weights, features) {
    merged_.stride = classes_.stride();
    for (const RelevantFeatures& model : features) {
      const MergedFeatures merged = FeatureMerger(model, classes_).run();
      indices_.emplace_back(merged, pairs);
      std::vector<u32>& numbers = numbers_.emplace_back();
      for (u32 c = 0; c < merged.size(); ++c) numbers.push_back(number_of(merged, c));
    }
  }

  static std::vector<RelevantFeatures> relevant(const std::vector<FeatureArrays>& arrays,
                                                const PairTable& pairs) {
    std::vector<RelevantFeatures> result;
    for (const FeatureArrays& model : arrays) result.emplace_back(model, pairs);
    return result;
  }

  // Returns the number of a feature in the pool. Adds the feature if it is new.
  u32 number_of(const MergedFeatures& merged, u32 c) {
    // Most features test their scope: mixing the hashes of two equal sequences would give zero.
    const u64 hash = mix(mix(mix(hash_of(merged.scope(c)), 1), hash_of(merged.tests(c))),
                         hash_of(merged.forbidden_by(c)));
    const auto next = static_cast<u32>(merged_.size());
    const u32 known = table_.find_or_insert(mix(hash, 0), next, [&](u32 other) {
      return std::ranges::equal(merged_.scope(other), merged.scope(c)) &&
             std::ranges::equal(merged_.tests(other), merged.tests(c)) &&
             std::ranges::equal(merged_.forbidden_by(other), merged.forbidden_by(c));
    });
    if (known != HashTable::NONE) return known;
    merged_.append(merged, c);
    return next;
  }

  ValueClasses classes_;
  MergedFeatures merged_;
  HashTable table_;
  std::vector<PairIndex> indices_;         // per model, over the features of that model
  std::vector<std::vector<u32>> numbers_;  // per model, the pool numbers of its features
};

}  // namespace contextwise

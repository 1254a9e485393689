// The claims of many models on some pairs, each distinct one once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "claims.hpp"
#include "classes.hpp"
#include "features.hpp"
#include "hashing.hpp"
#include "index.hpp"

namespace contextwise {

// Many models over the same variables, as they come. The arrays live with the caller.
struct ManyModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  std::vector<FeatureArrays> arrays;
};

// The claims of many models on some pairs: each distinct claim once, and for each model and pair
// the numbers of its claims, rising.
class ClaimPool {
 public:
  ClaimPool(const ManyModels& models, std::span<const Pair> pairs)
      : ClaimPool(models, PairTable(pairs, models.cardinalities.size())) {}

  std::size_t models() const { return indices_.size(); }
  const ValueClasses& classes() const { return classes_; }
  const Claims& claims() const { return claims_; }

  // Appends the claims of a model on a pair.
  void append(std::size_t model, std::size_t pair, std::vector<u32>& found) const {
    const auto begin = static_cast<std::ptrdiff_t>(found.size());
    for (u32 c : indices_[model].claims(pair)) found.push_back(numbers_[model][c]);
    std::sort(found.begin() + begin, found.end());
  }

 private:
  ClaimPool(const ManyModels& models, const PairTable& pairs)
      : ClaimPool(models, speaking(models.arrays, pairs), pairs) {}
  ClaimPool(const ManyModels& models, const std::vector<SpeakingFeatures>& features,
            const PairTable& pairs)
      : classes_(models.cardinalities, models.value_weights, features) {
    claims_.stride = classes_.stride();
    for (const SpeakingFeatures& model : features) {
      const Claims own = ClaimMerger(model, classes_).run();
      indices_.emplace_back(own, pairs);
      std::vector<u32>& numbers = numbers_.emplace_back();
      for (u32 c = 0; c < own.size(); ++c) numbers.push_back(number_of(own, c));
    }
  }

  static std::vector<SpeakingFeatures> speaking(const std::vector<FeatureArrays>& arrays,
                                                const PairTable& pairs) {
    std::vector<SpeakingFeatures> found;
    for (const FeatureArrays& model : arrays) found.emplace_back(model, pairs);
    return found;
  }

  // The number of a claim in the pool, to which it is added if it is new.
  u32 number_of(const Claims& own, u32 c) {
    const u64 hash =
        mix(mix(hash_of(own.scope(c)), hash_of(own.tests(c))), hash_of(own.forbidden_by(c)));
    const auto next = static_cast<u32>(claims_.size());
    const u32 known = table_.find_or_insert(mix(hash, 0), next, [&](u32 other) {
      return std::ranges::equal(claims_.scope(other), own.scope(c)) &&
             std::ranges::equal(claims_.tests(other), own.tests(c)) &&
             std::ranges::equal(claims_.forbidden_by(other), own.forbidden_by(c));
    });
    if (known != HashTable::NONE) return known;
    claims_.append(own, c);
    return next;
  }

  ValueClasses classes_;
  Claims claims_;
  HashTable table_;
  std::vector<PairIndex> indices_;         // of each model, by its own claims
  std::vector<std::vector<u32>> numbers_;  // of each model's claims, in the pool
};

}  // namespace contextwise

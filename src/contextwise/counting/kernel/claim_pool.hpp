// The claims of many models, each distinct claim stored once.
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

// Many models over the same variables. The caller owns the arrays.
struct ManyModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  std::vector<FeatureArrays> arrays;
};

// The claims of many models on some pairs. Equal claims of several models have one number.
class ClaimPool {
 public:
  ClaimPool(const ManyModels& models, std::span<const Pair> pairs)
      : ClaimPool(models, PairTable(pairs, models.cardinalities.size())) {}

  std::size_t models() const { return indices_.size(); }
  const ValueClasses& classes() const { return classes_; }
  const Claims& claims() const { return claims_; }

  // Appends the numbers of a model's claims on a pair, in rising order.
  void append(std::size_t model, std::size_t pair, std::vector<u32>& result) const {
    const auto begin = static_cast<std::ptrdiff_t>(result.size());
    for (u32 c : indices_[model].claims(pair)) result.push_back(numbers_[model][c]);
    std::sort(result.begin() + begin, result.end());
  }

 private:
  ClaimPool(const ManyModels& models, const PairTable& pairs)
      : ClaimPool(models, relevant(models.arrays, pairs), pairs) {}
  ClaimPool(const ManyModels& models, const std::vector<RelevantFeatures>& features,
            const PairTable& pairs)
      : classes_(models.cardinalities, models.value_weights, features) {
    claims_.stride = classes_.stride();
    for (const RelevantFeatures& model : features) {
      const Claims claims = ClaimMerger(model, classes_).run();
      indices_.emplace_back(claims, pairs);
      std::vector<u32>& numbers = numbers_.emplace_back();
      for (u32 c = 0; c < claims.size(); ++c) numbers.push_back(number_of(claims, c));
    }
  }

  static std::vector<RelevantFeatures> relevant(const std::vector<FeatureArrays>& arrays,
                                                const PairTable& pairs) {
    std::vector<RelevantFeatures> result;
    for (const FeatureArrays& model : arrays) result.emplace_back(model, pairs);
    return result;
  }

  // Returns the number of a claim in the pool. Adds the claim if it is new.
  u32 number_of(const Claims& claims, u32 c) {
    const u64 hash = mix(mix(hash_of(claims.scope(c)), hash_of(claims.tests(c))),
                         hash_of(claims.forbidden_by(c)));
    const auto next = static_cast<u32>(claims_.size());
    const u32 known = table_.find_or_insert(mix(hash, 0), next, [&](u32 other) {
      return std::ranges::equal(claims_.scope(other), claims.scope(c)) &&
             std::ranges::equal(claims_.tests(other), claims.tests(c)) &&
             std::ranges::equal(claims_.forbidden_by(other), claims.forbidden_by(c));
    });
    if (known != HashTable::NONE) return known;
    claims_.append(claims, c);
    return next;
  }

  ValueClasses classes_;
  Claims claims_;
  HashTable table_;
  std::vector<PairIndex> indices_;         // per model, over the claims of that model
  std::vector<std::vector<u32>> numbers_;  // per model, the pool numbers of its claims
};

}  // namespace contextwise

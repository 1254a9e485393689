// Two models made ready for some pairs: their claims, and which of them speak of a pair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "claims.hpp"
#include "classes.hpp"
#include "features.hpp"

namespace contextwise {

// The claims of each pair of a table, rising.
class PairIndex {
 public:
  PairIndex(const Claims& claims, const PairTable& pairs) : starts_(pairs.size() + 1, 0) {
    std::vector<std::pair<u32, u32>> found;  // pair, claim
    std::size_t most = 0;
    for (u32 c = 0; c < claims.size(); ++c) {
      const std::size_t length = claims.scope(c).size();
      most += length * (length - 1) / 2;
    }
    found.reserve(most);
    for (u32 c = 0; c < claims.size(); ++c)
      pairs.any_of(claims.scope(c), [&](u32 pair) {
        found.push_back({pair, c});
        ++starts_[pair + 1];
        return false;
      });
    for (std::size_t k = 0; k < pairs.size(); ++k) starts_[k + 1] += starts_[k];
    claims_.resize(found.size());
    std::vector<std::size_t> at(starts_.begin(), starts_.end() - 1);
    for (const auto& [pair, claim] : found) claims_[at[pair]++] = claim;
  }

  std::span<const u32> claims(std::size_t pair) const {
    return {claims_.data() + starts_[pair], starts_[pair + 1] - starts_[pair]};
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<u32> claims_;
};

// The claims of a model, and those of each pair.
struct IndexedClaims {
  Claims claims;
  PairIndex index;

  IndexedClaims(const SpeakingFeatures& model, const ValueClasses& classes, const PairTable& pairs)
      : claims(ClaimMerger(model, classes).run()), index(claims, pairs) {}
};

// Two models over the same variables, as they come. The arrays live with the caller.
struct TwoModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  FeatureArrays a, b;
};

// The same as far as some pairs are concerned; nothing of the caller's is needed any more.
struct IndexedModels {
  ValueClasses classes;
  IndexedClaims a, b;
};

// Features that speak of none of the pairs cost no more than a look at their scopes.
inline IndexedModels index_models(TwoModels models, std::span<const Pair> pairs, unsigned threads) {
  constexpr std::size_t WORTH_A_THREAD = 10'000;  // literals
  const PairTable table(pairs, models.cardinalities.size());
  const std::array<SpeakingFeatures, 2> both{SpeakingFeatures(models.a, table),
                                             SpeakingFeatures(models.b, table)};
  const auto& [a, b] = both;
  ValueClasses classes(std::move(models.cardinalities), models.value_weights, both);
  const bool apart = threads > 1 && b.literals() > WORTH_A_THREAD;
  auto second = std::async(apart ? std::launch::async : std::launch::deferred,
                           [&, &b = b] { return IndexedClaims(b, classes, table); });
  IndexedClaims first(a, classes, table);
  IndexedClaims other = second.get();
  return {std::move(classes), std::move(first), std::move(other)};
}

}  // namespace contextwise

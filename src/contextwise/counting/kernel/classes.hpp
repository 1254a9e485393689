// Classes of values. Two values of a variable are in one class if no literal of the models
// distinguishes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "features.hpp"
#include "refinement.hpp"

namespace contextwise {

class ValueClasses {
 public:
  // `value_weights` has one weight per value, variable by variable; empty if all are one.
  ValueClasses(std::vector<std::int64_t> cardinalities, const std::vector<Natural>& value_weights,
               std::span<const RelevantFeatures> models)
      : cardinalities_(std::move(cardinalities)) {
    find_classes(models);
    weigh(value_weights);
  }

  // Makes every value its own class, for features that are not known yet.
  ValueClasses(std::vector<std::int64_t> cardinalities, const std::vector<Natural>& value_weights)
      : cardinalities_(std::move(cardinalities)), class_of_(cardinalities_.size()) {
    for (std::size_t v = 0; v < cardinalities_.size(); ++v) {
      const auto values = static_cast<u32>(cardinalities_[v]);
      counts_.push_back(values);
      stride_ = std::max<std::size_t>(stride_, (values + 63) / 64);
      if (values > 0 && values <= 64) continue;
      class_of_[v].resize(values);
      std::iota(class_of_[v].begin(), class_of_[v].end(), u32{0});
    }
    weigh(value_weights);
  }

  std::size_t variables() const { return cardinalities_.size(); }
  u32 count(u32 variable) const { return counts_[variable]; }
  // Tests whether every class of a variable has weight one.
  bool unit(u32 variable) const { return weights_[variable].empty(); }
  Natural weight(u32 variable, u32 which) const {
    return unit(variable) ? Natural(1) : weights_[variable][which];
  }
  // Returns the number of words of the longest bit set of classes.
  std::size_t stride() const { return stride_; }

  // Multiplies by the total weights of all variables except `without`, which it may sort. Most
  // totals are powers of two, so most of the product is one shift.
  void multiply_by_others(Natural& number, std::vector<u32>& without) const {
    unsigned shift = shift_;
    for (u32 v : without) shift -= twos_[v];
    if (!odd_.empty()) std::sort(without.begin(), without.end());
    for (const auto& [v, total] : odd_)
      if (!std::binary_search(without.begin(), without.end(), v)) number *= total;
    number <<= shift;
  }

  // Adds to `classes` those that a value set forbids.
  void forbid(u32 variable, std::span<const u64> set, u64* classes) const {
    const auto values = static_cast<std::size_t>(cardinalities_[variable]);
    const std::vector<u32>& of = class_of_[variable];
    if (of.empty()) {  // each value is its own class, and they fit into one word
      classes[0] |= ~set[0] & (~u64{0} >> (64 - values));
      return;
    }
    for (std::size_t k = 0; k < values; ++k)
      if (!(set[k / 64] >> k % 64 & 1)) classes[of[k] / 64] |= u64{1} << of[k] % 64;
  }

 private:
  void find_classes(std::span<const RelevantFeatures> models) {
    const std::size_t n = cardinalities_.size();
    // The distinct value sets of each variable. Binary variables do not need them.
    std::vector<std::set<std::vector<u64>>> sets(n);
    if (std::ranges::any_of(cardinalities_, [](std::int64_t values) { return values > 2; }))
      for (const RelevantFeatures& model : models) collect(model, sets);
    class_of_.resize(n);
    counts_.resize(n);
    for (std::size_t v = 0; v < n; ++v) counts_[v] = split(v, sets[v]);
    for (u32 count : counts_) stride_ = std::max<std::size_t>(stride_, (count + 63) / 64);
  }

  void collect(const RelevantFeatures& model, std::vector<std::set<std::vector<u64>>>& sets) const {
    for (u32 f : model.features) {
      std::size_t literal = model.arrays.begin(f);
      for (std::int32_t variable : model.arrays.scope(f)) {
        const auto v = static_cast<std::size_t>(variable);
        const std::span<const u64> set = model.arrays.value_set(literal++);
        if (cardinalities_[v] > 2) sets[v].emplace(set.begin(), set.end());
      }
    }
  }

  // Finds the classes of one variable. It keeps no list if each value is its own class.
  u32 split(std::size_t variable, const std::set<std::vector<u64>>& sets) {
    const auto values = static_cast<std::size_t>(cardinalities_[variable]);
    if (values == 2) return 2;
    Refinement classes(values);
    for (const std::vector<u64>& set : sets)
      if (!classes.finest())
        classes.split([&](std::size_t k) { return set[k / 64] >> k % 64 & 1; });
    if (values == 0 || values > 64 || !classes.finest()) class_of_[variable] = classes.of();
    return classes.count();
  }

  void weigh(const std::vector<Natural>& value_weights) {
    const std::size_t n = cardinalities_.size();
    weights_.resize(n);
    twos_.assign(n, 0);
    std::size_t at = 0;
    for (u32 v = 0; v < n; ++v) {
      const auto values = static_cast<std::size_t>(cardinalities_[v]);
      Natural total(value_weights.empty() ? values : 0);
      if (!value_weights.empty() || counts_[v] < values) weights_[v].resize(counts_[v]);
      for (std::size_t k = 0; k < values && !weights_[v].empty(); ++k) {
        const Natural weight = value_weights.empty() ? Natural(1) : value_weights[at++];
        weights_[v][class_of_[v].empty() ? k : class_of_[v][k]] += weight;
        if (!value_weights.empty()) total += weight;
      }
      if (std::ranges::all_of(weights_[v], &Natural::is_one)) weights_[v].clear();
      if (total.is_power_of_two())
        shift_ += twos_[v] = static_cast<unsigned>(total.bits() - 1);
      else
        odd_.push_back({v, std::move(total)});
    }
  }

  std::vector<std::int64_t> cardinalities_;
  std::vector<std::vector<u32>> class_of_;     // class of each value; empty if each is its own
  std::vector<u32> counts_;                    // number of classes
  std::vector<std::vector<Natural>> weights_;  // weight of each class; empty if all are one
  std::vector<unsigned> twos_;                 // exponent of the total, if it is a power of two
  std::vector<std::pair<u32, Natural>> odd_;   // the other variables and their totals
  unsigned shift_ = 0;
  std::size_t stride_ = 1;
};

}  // namespace contextwise

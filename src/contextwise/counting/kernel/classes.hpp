// Classes of values. Two values of a variable are in one class if no literal of the models
// distinguishes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

  // Multiplies by the total weights of all variables except `without`, which it may overwrite. Most
  // totals are powers of two, so most of the product is one shift.
  void multiply_by_others(Natural& number, std::vector<u32>& without) const {
    unsigned shift = shift_;
    for (u32 v : without) shift -= twos_[v];
    if (!odd_.empty()) {
      for (u32& v : without) v = odd_of_[v];
      std::sort(without.begin(), without.end());
      auto at = without.cbegin();
      for (u32 kind = 0; kind < odd_.size(); ++kind) {
        u32 left = odd_[kind].times;
        for (; at != without.cend() && *at == kind; ++at) --left;
        if (left) odd_[kind].multiply(number, left);
      }
    }
    number <<= shift;
  }

  // From now on, counts as if each kind of variable (those with the same total weight) occurred at
  // most this often. That divides all numbers of contexts by the same unit: a variable that no
  // feature of a pair tests only multiplies the counts of the pair. Some variables may stand for
  // others, so the limit must be at least the number of variables in one `without`.
  void limit(u32 most) {
    limit_ = most;
    shift_ = 0;
    for (const auto& [twos, times] : even_) shift_ += twos * std::min(times, most);
    for (OddKind& kind : odd_) kind.limit(most);
  }
  u32 limit() const { return limit_; }
  // Returns the weight of all assignments, in this unit.
  Natural whole() const {
    Natural number(1);
    std::vector<u32> none;
    multiply_by_others(number, none);
    return number;
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
    std::map<std::vector<u64>, u32> kinds;
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
        ++even_[twos_[v] = static_cast<unsigned>(total.bits() - 1)];
      else
        add_odd(v, total, kinds);
    }
    limit(static_cast<u32>(n));
  }

  void add_odd(u32 variable, const Natural& total, std::map<std::vector<u64>, u32>& kinds) {
    odd_of_.resize(cardinalities_.size(), NONE);
    const std::vector<u64> key(total.words().begin(), total.words().end());
    const auto [kind, fresh] = kinds.try_emplace(key, static_cast<u32>(odd_.size()));
    if (fresh) odd_.push_back({total, 0, 0, {}});
    ++odd_[kind->second].variables;
    odd_of_[variable] = kind->second;
  }

  static constexpr u32 NONE = ~u32{0};

  // The variables with one total weight that is no power of two.
  struct OddKind {
    Natural total;
    u32 variables, times;         // how many there are, and how many count
    std::vector<Natural> powers;  // of the total, if there are few

    void limit(u32 most) {
      times = total.is_zero() ? variables : std::min(variables, most);
      powers.assign(1, Natural(1));
      while (powers.size() <= times && times <= 256) {
        powers.push_back(powers.back());
        powers.back() *= total;
      }
    }
    void multiply(Natural& number, u32 exponent) const {
      if (exponent < powers.size())
        number *= powers[exponent];
      else
        for (; exponent; --exponent) number *= total;
    }
  };

  std::vector<std::int64_t> cardinalities_;
  std::vector<std::vector<u32>> class_of_;     // class of each value; empty if each is its own
  std::vector<u32> counts_;                    // number of classes
  std::vector<std::vector<Natural>> weights_;  // weight of each class; empty if all are one
  std::vector<unsigned> twos_;                 // exponent of the total, if it is a power of two
  std::map<unsigned, u32> even_;               // number of variables with each exponent
  std::vector<OddKind> odd_;                   // the other kinds of variables
  std::vector<u32> odd_of_;                    // kind of each variable, or NONE
  unsigned shift_ = 0;                         // of all powers of two that count
  u32 limit_ = 0;
  std::size_t stride_ = 1;
};

}  // namespace contextwise

// One coding of the values for two models, from the arrays of contextwise/features.py: values of a
// variable that no literal of either model tells apart become one class.
#pragma once

#include <map>
#include <span>

#include "cover.hpp"

namespace contextwise {

// The features of one model; see features.py for what the arrays hold.
struct FeatureArrays {
  const std::int64_t* starts;
  const std::int32_t* variables;
  const u64* values;
  std::size_t count;     // features
  std::size_t words;     // of a value set
  std::size_t literals() const { return static_cast<std::size_t>(starts[count]); }
};

struct Pair {
  u32 first, second;
};

// The values of every variable as classes, and what the classes weigh.
class Coding {
 public:
  // value_weights: a weight for each value of each variable in turn; empty if each weighs one.
  Coding(std::vector<std::int64_t> cardinalities, std::vector<Natural> value_weights,
         const FeatureArrays& a, const FeatureArrays& b)
      : cardinalities_(std::move(cardinalities)) {
    split_classes({&a, &b});
    weigh(value_weights);
  }

  std::size_t variables() const { return cardinalities_.size(); }
  u32 classes(u32 variable) const { return class_count_[variable]; }
  // Multiplies by what all variables weigh but these, which it may sort. Most variables weigh a
  // power of two, so that a product is a shift.
  void multiply_by_others(Natural& number, std::vector<u32>& without) const {
    unsigned shift = shift_;
    for (u32 v : without) shift -= twos_[v];
    if (!odd_.empty()) std::sort(without.begin(), without.end());
    for (u32 v : odd_)
      if (!std::binary_search(without.begin(), without.end(), v)) number *= totals_[v];
    number <<= shift;
  }
  bool unit(u32 variable) const { return unit_[variable]; }
  const Natural& weight(u32 variable, u32 which) const { return weights_[variable][which]; }
  // The most words that the classes of a variable take as a bit set.
  std::size_t stride() const { return stride_; }
  // Adds the classes that a value set forbids.
  void forbid(u32 variable, const u64* set, u64* classes) const {
    const std::vector<u32>& of = class_of_[variable];
    if (of.size() <= 64 && class_count_[variable] == of.size()) {  // each value is its own class
      classes[0] |= ~set[0] & (~u64{0} >> (64 - of.size()));
      return;
    }
    for (std::size_t k = 0; k < of.size(); ++k)
      if (!(set[k / 64] >> k % 64 & 1)) classes[of[k] / 64] |= u64{1} << of[k] % 64;
  }

 private:
  void split_classes(const std::array<const FeatureArrays*, 2>& models) {
    const std::size_t n = cardinalities_.size();
    class_of_.resize(n);
    class_count_.resize(n);
    // The distinct value sets of each variable; a binary variable needs no look.
    std::vector<std::map<std::vector<u64>, char>> sets(n);
    for (const FeatureArrays* model : models)
      for (std::size_t l = 0; l < model->literals(); ++l) {
        const auto v = static_cast<std::size_t>(model->variables[l]);
        if (cardinalities_[v] <= 2) continue;
        const u64* set = model->values + l * model->words;
        sets[v].emplace(std::vector<u64>(set, set + model->words), 0);
      }
    for (std::size_t v = 0; v < n; ++v) {
      const auto values = static_cast<std::size_t>(cardinalities_[v]);
      std::vector<u32>& of = class_of_[v];
      of.assign(values, 0);
      u32 count = values == 0 ? 0 : 1;
      if (values == 2) {
        of[1] = 1;
        count = 2;
      }
      for (const auto& [set, unused] : sets[v]) {
        std::vector<u32> in(count, NONE), out(count, NONE);
        u32 fresh = 0;
        for (std::size_t k = 0; k < values; ++k) {
          u32& place = (set[k / 64] >> k % 64 & 1 ? in : out)[of[k]];
          if (place == NONE) place = fresh++;
          of[k] = place;
        }
        count = fresh;
      }
      class_count_[v] = count;
      stride_ = std::max<std::size_t>(stride_, (count + 63) / 64);
    }
  }

  void weigh(const std::vector<Natural>& value_weights) {
    const std::size_t n = cardinalities_.size();
    weights_.resize(n);
    totals_.resize(n);
    unit_.assign(n, 1);
    std::size_t at = 0;
    for (std::size_t v = 0; v < n; ++v) {
      weights_[v].resize(class_count_[v]);
      for (u32 of : class_of_[v]) {
        const Natural weight = value_weights.empty() ? Natural(1) : value_weights[at++];
        weights_[v][of] += weight;
        totals_[v] += weight;
      }
      for (const Natural& weight : weights_[v]) unit_[v] &= weight.is_one();
      twos_.push_back(0);
      if (totals_[v].is_power_of_two())
        shift_ += twos_[v] = static_cast<unsigned>(totals_[v].bits() - 1);
      else
        odd_.push_back(static_cast<u32>(v));
    }
  }

  static constexpr u32 NONE = ~u32{0};
  std::vector<std::int64_t> cardinalities_;
  std::vector<std::vector<u32>> class_of_;
  std::vector<u32> class_count_;
  std::vector<std::vector<Natural>> weights_;
  std::vector<Natural> totals_;
  std::vector<char> unit_;
  std::vector<unsigned> twos_;  // the exponent, if the total of a variable is a power of two
  std::vector<u32> odd_;        // the variables whose total is not
  unsigned shift_ = 0;
  std::size_t stride_ = 1;
};

}  // namespace contextwise

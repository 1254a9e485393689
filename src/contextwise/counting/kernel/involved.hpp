// Bounds how many variables a pair involves: its own two, and those that its features test.
//
// All other variables only multiply the counts of the pair. So counts are kept in a common unit, in
// which each kind of variable occurs at most this often (see ValueClasses::limit).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "features.hpp"
#include "merged_features.hpp"

namespace contextwise {

class InvolvedVariables {
 public:
  InvolvedVariables(std::span<const MergedFeatures* const> models, std::size_t variables)
      : models_(models), marks_(variables, 0) {
    for (const MergedFeatures* model : models_) holders_.push_back(holders_of(*model, variables));
    near_.resize(variables);
    for (u32 v = 0; v < variables; ++v) {
      begin(v);
      for (std::size_t m = 0; m < models_.size(); ++m)
        for (u32 feature : holders_[m].of(v)) mark(*models_[m], feature);
      near_[v] = count_;
    }
  }

  // Returns the largest number of variables that one of the pairs involves, or somewhat more.
  u32 most(std::span<const Pair> pairs) {
    u32 most = 2;
    std::size_t looked = 0;
    for (const Pair& pair : pairs) {
      // All features of a pair have both variables, so the variables near either are enough.
      const u32 bound = std::min(near_[pair.first], near_[pair.second]) + 1;
      if (bound > most) most = std::max(most, looked++ < LOOKS ? exactly(pair) : bound);
    }
    return most;
  }

 private:
  static constexpr std::size_t LOOKS = 1000;

  // The features that have a variable in their scope.
  struct Holders {
    std::vector<u32> starts, features;

    std::span<const u32> of(u32 variable) const {
      return {features.data() + starts[variable], starts[variable + 1] - starts[variable]};
    }
  };

  static Holders holders_of(const MergedFeatures& model, std::size_t variables) {
    Holders holders{std::vector<u32>(variables + 1, 0), std::vector<u32>(model.scopes.size())};
    for (u32 v : model.scopes) ++holders.starts[v + 1];
    for (std::size_t v = 0; v < variables; ++v) holders.starts[v + 1] += holders.starts[v];
    std::vector<u32> at(holders.starts.begin(), holders.starts.end() - 1);
    for (u32 feature = 0; feature < model.size(); ++feature)
      for (u32 v : model.scope(feature)) holders.features[at[v]++] = feature;
    return holders;
  }

  void begin(u32 variable) {
    ++round_;
    count_ = 1;
    marks_[variable] = round_;
  }
  void mark(const MergedFeatures& model, u32 feature) {
    for (u32 v : model.tests(feature)) {
      count_ += marks_[v] != round_;
      marks_[v] = round_;
    }
  }

  u32 exactly(const Pair& pair) {
    begin(pair.first);
    for (std::size_t m = 0; m < models_.size(); ++m)
      for (u32 feature : holders_[m].of(pair.first))
        if (std::ranges::binary_search(models_[m]->scope(feature), pair.second))
          mark(*models_[m], feature);
    return count_ + (marks_[pair.second] != round_);
  }

  std::span<const MergedFeatures* const> models_;
  std::vector<Holders> holders_;  // of each model
  std::vector<u32> near_;         // number of variables in features with this one, itself included
  std::vector<u32> marks_;        // the last round that met each variable
  u32 round_ = 0, count_ = 0;
};

}  // namespace contextwise

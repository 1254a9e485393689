// From features to covers, on the arrays of contextwise/features.py.
//
// Done once a comparison: the values of each variable that no literal of either model tells apart
// become classes, and each literal becomes the set of classes it forbids. Done for each pair: its
// features, without the literals of the pair, as cubes over the variables they test.
#pragma once

#include <map>
#include <stdexcept>

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

// The values of every variable as classes, and the literals of both models over them.
class Coding {
 public:
  // value_weights: a weight for each value of each variable in turn; empty if each weighs one.
  Coding(std::vector<std::int64_t> cardinalities, std::vector<Natural> value_weights,
         const FeatureArrays& a, const FeatureArrays& b)
      : cardinalities_(std::move(cardinalities)), models_{&a, &b} {
    split_classes();
    weigh(value_weights);
    code_literals();
  }

  std::size_t variables() const { return cardinalities_.size(); }
  u32 classes(u32 variable) const { return class_count_[variable]; }
  // The weight of all assignments, without these variables (rising). Most variables count a power
  // of two, so that a product is a shift.
  Natural all_but(const std::vector<u32>& without) const {
    unsigned shift = shift_;
    for (u32 v : without) shift -= twos_[v];
    Natural result(1);
    for (u32 v : odd_)
      if (!std::binary_search(without.begin(), without.end(), v)) result *= totals_[v];
    result <<= shift;
    return result;
  }
  bool unit(u32 variable) const { return unit_[variable]; }
  const Natural& weight(u32 variable, u32 which) const { return weights_[variable][which]; }
  const FeatureArrays& model(int m) const { return *models_[m]; }
  // The classes that a literal forbids.
  const u64* forbidden(int model, std::size_t literal) const {
    return forbidden_[model].data() + literal * stride_;
  }

 private:
  void split_classes() {
    const std::size_t n = cardinalities_.size();
    class_of_.resize(n);
    class_count_.resize(n);
    // The distinct value sets of each variable; a binary variable needs no look.
    std::vector<std::map<std::vector<u64>, char>> sets(n);
    for (const FeatureArrays* model : models_)
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

  void code_literals() {
    for (int m = 0; m < 2; ++m) {
      const FeatureArrays& model = *models_[m];
      forbidden_[m].assign(model.literals() * stride_, 0);
      for (std::size_t l = 0; l < model.literals(); ++l) {
        const u64* set = model.values + l * model.words;
        u64* target = forbidden_[m].data() + l * stride_;
        const std::vector<u32>& of = class_of_[static_cast<std::size_t>(model.variables[l])];
        for (std::size_t k = 0; k < of.size(); ++k)
          if (!(set[k / 64] >> k % 64 & 1)) target[of[k] / 64] |= u64{1} << of[k] % 64;
      }
    }
  }

  static constexpr u32 NONE = ~u32{0};
  std::vector<std::int64_t> cardinalities_;
  const FeatureArrays* models_[2];
  std::vector<std::vector<u32>> class_of_;
  std::vector<u32> class_count_;
  std::vector<std::vector<Natural>> weights_;
  std::vector<Natural> totals_;
  std::vector<char> unit_;
  std::vector<unsigned> twos_;  // the exponent, if the total of a variable is a power of two
  std::vector<u32> odd_;        // the variables whose total is not
  unsigned shift_ = 0;
  std::size_t stride_ = 1;
  std::vector<u64> forbidden_[2];
};

// Which features of a model have both variables of each pair in their scope.
class PairIndex {
 public:
  PairIndex() = default;
  PairIndex(const FeatureArrays& model, const std::vector<Pair>& pairs, std::size_t variables)
      : starts_(pairs.size() + 1, 0) {
    // The wanted pairs by their first variable, so that a feature finds its pairs by a short search.
    std::vector<std::vector<std::pair<u32, u32>>> rows(variables);
    for (u32 k = 0; k < pairs.size(); ++k) rows[pairs[k].first].push_back({pairs[k].second, k});
    for (auto& row : rows) std::sort(row.begin(), row.end());
    std::vector<std::pair<u32, u32>> found;  // pair, feature
    for (u32 f = 0; f < model.count; ++f)
      for (auto i = model.starts[f]; i < model.starts[f + 1]; ++i) {
        const auto& row = rows[static_cast<std::size_t>(model.variables[i])];
        auto at = row.begin();
        for (auto j = i + 1; j < model.starts[f + 1] && at != row.end(); ++j) {
          const u32 second = static_cast<u32>(model.variables[j]);
          at = std::lower_bound(at, row.end(), std::pair<u32, u32>{second, 0});
          for (auto same = at; same != row.end() && same->first == second; ++same)
            found.push_back({same->second, f});
        }
      }
    for (const auto& [pair, feature] : found) ++starts_[pair + 1];
    for (std::size_t k = 0; k < pairs.size(); ++k) starts_[k + 1] += starts_[k];
    features_.resize(found.size());
    std::vector<std::size_t> at(starts_.begin(), starts_.end() - 1);
    for (const auto& [pair, feature] : found) features_[at[pair]++] = feature;
  }
  const u32* begin(std::size_t pair) const { return features_.data() + starts_[pair]; }
  const u32* end(std::size_t pair) const { return features_.data() + starts_[pair + 1]; }

 private:
  std::vector<std::size_t> starts_;
  std::vector<u32> features_;
};

// Builds the covers of one pair in both models, over the same bits.
class Extractor {
 public:
  Extractor(const Coding& coding, const PairIndex& a, const PairIndex& b, bool canonical)
      : coding_(coding), indices_{&a, &b}, canonical_(canonical), place_(coding.variables()) {}

  std::array<Cover, 2> covers(std::size_t number, const Pair& pair) {
    used_.clear();
    for (int m = 0; m < 2; ++m)
      for_each_literal(m, number, pair, [&](u32 variable, std::size_t) {
        if (place_[variable]) return;
        place_[variable] = 1;
        used_.push_back(variable);
      });
    std::sort(used_.begin(), used_.end());
    Cover frame;
    bool unit = true;
    for (u32 k = 0; k < used_.size(); ++k) {
      place_[used_[k]] = frame.start.back();
      frame.start.push_back(frame.start.back() + coding_.classes(used_[k]));
      unit &= coding_.unit(used_[k]);
    }
    if (!unit)
      for (u32 v : used_)
        for (u32 k = 0; k < coding_.classes(v); ++k) frame.weights.push_back(coding_.weight(v, k));
    frame.names = used_;
    std::array<Cover, 2> result{frame, std::move(frame)};
    for (int m = 0; m < 2; ++m) fill(result[m], m, number, pair);
    for (u32 v : used_) place_[v] = 0;
    return result;
  }

 private:
  template <class Action>
  void for_each_literal(int m, std::size_t number, const Pair& pair, Action action) const {
    for (const u32* f = indices_[m]->begin(number); f != indices_[m]->end(number); ++f)
      for_each_literal_of(m, *f, pair, action);
  }
  template <class Action>
  void for_each_literal_of(int m, u32 feature, const Pair& pair, Action action) const {
    const FeatureArrays& model = coding_.model(m);
    for (auto l = model.starts[feature]; l < model.starts[feature + 1]; ++l) {
      const u32 v = static_cast<u32>(model.variables[l]);
      if (canonical_ || (v != pair.first && v != pair.second))
        action(v, static_cast<std::size_t>(l));
    }
  }

  void fill(Cover& cover, int m, std::size_t number, const Pair& pair) const {
    const std::size_t words = cover.words();
    const auto count = static_cast<std::size_t>(indices_[m]->end(number) - indices_[m]->begin(number));
    cover.cubes.assign(count * words, 0);
    for (std::size_t c = 0; c < count; ++c)
      for_each_literal_of(m, indices_[m]->begin(number)[c], pair, [&](u32 v, std::size_t literal) {
        const u64* forbidden = coding_.forbidden(m, literal);
        const u32 at = place_[v], shift = at % 64, classes = coding_.classes(v);
        u64* cube = cover.cubes.data() + c * words + at / 64;
        for (u32 k = 0; 64 * k < classes; ++k) {
          cube[k] |= forbidden[k] << shift;
          if (shift && forbidden[k] >> (64 - shift)) cube[k + 1] |= forbidden[k] >> (64 - shift);
        }
      });
  }

  const Coding& coding_;
  const PairIndex* indices_[2];
  bool canonical_;
  std::vector<u32> place_;
  std::vector<u32> used_;
};

}  // namespace contextwise

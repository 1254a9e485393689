// The configurations of a blanket in classes, scored together: what mpl.py explains.
#pragma once

#include <map>
#include <utility>

#include "scores.hpp"

namespace contextwise::count {

using Context = std::map<u32, u32>;  // the values of some variables

class Classes {
 public:
  Classes(const Rows& rows, std::size_t target, std::vector<u32> blanket, double prior,
          double scale)
      : blanket_(std::move(blanket)), values_(rows.cardinalities[target]), scale_(scale) {
    std::size_t size = 1;
    strides_.resize(blanket_.size());
    for (std::size_t k = blanket_.size(); k-- > 0;) {
      strides_[k] = size;
      cards_.insert(cards_.begin(), rows.cardinalities[blanket_[k]]);
      size *= cards_.front();
    }
    weight_ = prior / static_cast<double>(size);
    labels_.resize(size);
    std::iota(labels_.begin(), labels_.end(), u32{0});
    sizes_.assign(size, 1);
    scores_.assign(size, 0);
    places_.assign(size, NONE);
    parents_.assign(size, NONE);
    groups_.assign(size, NONE);
    known_.assign(KNOWN, {~u64{0}, 0});
    std::vector<u32> configurations(rows.size(), 0);
    for (std::size_t k = 0; k < blanket_.size(); ++k) {
      const u32* const column = rows.column(blanket_[k]);
      const u32 stride = static_cast<u32>(strides_[k]);
      for (std::size_t r = 0; r < rows.size(); ++r) configurations[r] += column[r] * stride;
    }
    const u32* const codes = rows.column(target);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      u32& place = places_[configurations[r]];
      if (place == NONE) {
        place = static_cast<u32>(counts_.size() / values_);
        counts_.resize(counts_.size() + values_, 0);
      }
      counts_[std::size_t{place} * values_ + codes[r]] += rows.counts[r];
    }
    for (std::size_t c = 0; c < size; ++c)
      if (places_[c] != NONE) scores_[c] = score(counts_.data() + places_[c] * values_, 1);
  }

  i64 total() const { return std::accumulate(scores_.begin(), scores_.end(), i64{0}); }

  // By how much the score rises if configurations that agree with a context and differ in `other`
  // alone become one class.
  i64 gain(u32 other, const Context& context) {
    join(other, context);
    i64 result = 0;
    for (std::size_t g = 0; g < groups(); ++g)
      if (members_[g] > 1) result += score(sums_.data() + g * values_, merged_[g]) - before_[g];
    clear();
    return result;
  }

  void merge(u32 other, const Context& context) {
    join(other, context);
    std::vector<u32> heads(groups(), NONE);
    for (const u32 label : touched_) {
      const u32 g = groups_[root(label)];
      if (members_[g] < 2) continue;
      if (heads[g] == NONE) {
        heads[g] = label;
        if (places_[label] == NONE) {
          places_[label] = static_cast<u32>(counts_.size() / values_);
          counts_.resize(counts_.size() + values_, 0);
        }
        std::copy_n(sums_.data() + g * values_, values_, counts_.data() + places_[label] * values_);
      } else {
        places_[label] = NONE;
      }
    }
    for (u32& label : labels_)
      if (parents_[label] != NONE)
        if (const u32 g = groups_[root(label)]; members_[g] > 1) label = heads[g];
    for (const u32 label : touched_) {
      const u32 g = groups_[root(label)];
      if (members_[g] < 2) continue;
      const bool head = heads[g] == label;
      sizes_[label] = head ? merged_[g] : 0;
      scores_[label] = head ? score(sums_.data() + g * values_, merged_[g]) : 0;
    }
    clear();
  }

  // Whether configurations that agree with the context and differ in `other` alone are one class.
  bool is_merged(u32 other, const Context& context) const {
    const std::size_t k = place_of(other);
    for (const std::size_t begin : lines(other, context))
      for (u32 value = 1; value < cards_[k]; ++value)
        if (labels_[begin + value * strides_[k]] != labels_[begin]) return false;
    return true;
  }

 private:
  static constexpr u32 NONE = ~u32{0};
  static constexpr std::size_t KNOWN = 2048;

  std::size_t place_of(u32 v) const {
    return static_cast<std::size_t>(std::ranges::find(blanket_, v) - blanket_.begin());
  }

  // The first configuration of each line, which agrees with a context and differs in `other` alone.
  std::vector<std::size_t> lines(u32 other, const Context& context) const {
    std::vector<std::size_t> result{0}, longer;
    for (std::size_t k = 0; k < blanket_.size(); ++k) {
      if (blanket_[k] == other) continue;
      const auto found = context.find(blanket_[k]);
      longer.clear();
      for (const std::size_t begin : result)
        for (u32 value = 0; value < cards_[k]; ++value)
          if (found == context.end() || found->second == value)
            longer.push_back(begin + value * strides_[k]);
      result.swap(longer);
    }
    return result;
  }

  u32 root(u32 label) {
    while (parents_[label] != label) label = parents_[label] = parents_[parents_[label]];
    return label;
  }
  void touch(u32 label) {
    if (parents_[label] != NONE) return;
    parents_[label] = label;
    touched_.push_back(label);
  }
  std::size_t groups() const { return members_.size(); }

  // Joins the classes of each line, and adds up the counts of those that are joined.
  void join(u32 other, const Context& context) {
    const std::size_t k = place_of(other);
    for (const std::size_t begin : lines(other, context))
      for (u32 value = 0; value < cards_[k]; ++value) {
        const u32 label = labels_[begin + value * strides_[k]];
        touch(label);
        parents_[root(label)] = root(labels_[begin]);
      }
    for (const u32 label : touched_) {
      u32& g = groups_[root(label)];
      if (g == NONE) {
        g = static_cast<u32>(groups());
        members_.push_back(0);
        merged_.push_back(0);
        before_.push_back(0);
        sums_.resize(sums_.size() + values_, 0);
      }
      ++members_[g];
      merged_[g] += sizes_[label];
      before_[g] += scores_[label];
      if (places_[label] == NONE) continue;
      const u32* const counts = counts_.data() + std::size_t{places_[label]} * values_;
      u32* const sums = sums_.data() + std::size_t{g} * values_;
      for (u32 value = 0; value < values_; ++value) sums[value] += counts[value];
    }
  }

  void clear() {
    for (const u32 label : touched_) parents_[label] = groups_[label] = NONE;
    touched_.clear();
    members_.clear();
    merged_.clear();
    before_.clear();
    sums_.clear();
  }

  // The score of a class of `size` configurations with these counts of the target's values.
  i64 score(const u32* counts, u32 size) {
    u64 n = 0;
    i64 sum = 0;
    for (u32 value = 0; value < values_; ++value)
      if (counts[value]) {
        n += counts[value];
        sum += rising(counts[value], size, true);
      }
    return n ? sum - rising(n, size, false) : 0;
  }

  // ln Γ(w + n) - ln Γ(w) in units of 1/scale, w the weight of a class or of a value in it.
  i64 rising(u64 n, u32 size, bool of_value) {
    const u64 key = (n << 20 | size) << 1 | static_cast<u64>(of_value);
    auto& [known, value] = known_[(key * 0x9E3779B97F4A7C15u) >> 53];
    if (known != key) {
      const double weight = weight_ * size / (of_value ? values_ : 1);
      const double start = std::max(weight, TINY);
      known = key;
      value = std::llrint((log_gamma(start + static_cast<double>(n)) - log_gamma(start)) * scale_);
    }
    return value;
  }

  std::vector<u32> blanket_, cards_;
  std::vector<std::size_t> strides_;
  u32 values_;
  double scale_, weight_ = 0;
  std::vector<u32> labels_;                      // the class of each configuration
  std::vector<u32> sizes_, places_, counts_;     // of each class; counts_ of the target's values
  std::vector<i64> scores_;                      // of each class
  std::vector<u32> parents_, groups_, touched_;  // of classes while they are joined
  std::vector<u32> members_, merged_, sums_;     // of each group of joined classes
  std::vector<i64> before_;
  std::vector<std::pair<u64, i64>> known_;
};

}  // namespace contextwise::count

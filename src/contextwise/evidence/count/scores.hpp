// The log marginal likelihood of a variable given its blanket: what mpl.py explains.
//
// Sums are exact: every term is rounded to a multiple of 1/scale and added as an integer. So scores
// do not depend on the order of rows and groups, and equal tables have equal scores.
#pragma once

#include <cmath>
#include <limits>

#include "rows.hpp"

namespace contextwise::count {

inline double log_gamma(double x) {
  double product = 1;
  if (x < 8) {
    for (int k = 0; k < 8; ++k) product *= x + k;
    x += 8;
  }
  const double y = 1 / (x * x);
  const double series =
      (1 / 12.0 +
       y * (-1 / 360.0 +
            y * (1 / 1260.0 + y * (-1 / 1680.0 + y * (1 / 1188.0 + y * (-691 / 360360.0)))))) /
      x;
  return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series - std::log(product);
}

// ln Γ(start + n) - ln Γ(start) for whole n, as an integer in units of 1/scale.
class Rising {
 public:
  Rising(double start, double scale)
      : start_(start), scale_(scale), base_(log_gamma(start)), known_(KNOWN, UNKNOWN) {}

  i64 operator()(u64 n) {
    if (n >= KNOWN) return compute(n);
    i64& value = known_[n];
    if (value == UNKNOWN) value = compute(n);
    return value;
  }

 private:
  static constexpr std::size_t KNOWN = 1024;
  static constexpr i64 UNKNOWN = std::numeric_limits<i64>::min();
  i64 compute(u64 n) const {
    if (n == 0) return 0;
    return std::llrint((log_gamma(start_ + static_cast<double>(n)) - base_) * scale_);
  }
  double start_, scale_, base_;
  std::vector<i64> known_;
};

inline constexpr double TINY = 1e-300;  // the weight of a cell when there are too many cells

// Scores of one target; holds the scratch space of one thread.
class Scorer {
 public:
  Scorer(const Rows& rows, std::size_t target, double scale)
      : rows_(rows),
        refiner_(rows),
        codes_(rows.column(target)),
        values_(rows.cardinalities[target]),
        scale_(scale) {}

  // The score given the groups of a blanket, with `weight` rows of prior in each.
  i64 score(const Partition& partition, double weight) {
    Rising total(std::max(weight, TINY), scale_), part(std::max(weight / values_, TINY), scale_);
    tally_.resize(values_);
    i64 sum = 0;
    for (std::size_t g = 0; g < partition.ends.size(); ++g) {
      u64 n = 0;
      for (const u32 row : partition.group(g)) {
        const u32 value = codes_[row];
        if (tally_[value] == 0) seen_.push_back(value);
        tally_[value] += rows_.counts[row];
        n += rows_.counts[row];
      }
      for (const u32 value : seen_) {
        sum += part(tally_[value]);
        tally_[value] = 0;
      }
      seen_.clear();
      sum -= total(n);
    }
    return sum;
  }

  // The scores given the groups of a blanket and each of some other variables; `cells` is the
  // number of configurations of the blanket.
  std::vector<i64> scores(const Partition& partition, std::span<const u32> others, double prior,
                          double cells) {
    gather(partition);
    std::vector<i64> result;
    for (const u32 v : others) {
      const u32 width = rows_.cardinalities[v];
      const double weight = prior / (cells * width);
      if (u64{width} * values_ <= SMALL) {
        result.push_back(score_small(partition, v, weight));
      } else {
        Partition finer = partition;
        refiner_.refine(finer, v);
        result.push_back(score(finer, weight));
      }
    }
    return result;
  }

 private:
  static constexpr std::size_t SMALL = 64;

  // Puts the target's values and the counts in the order of the partition.
  void gather(const Partition& partition) {
    values_in_order_.resize(partition.order.size());
    counts_in_order_.resize(partition.order.size());
    for (std::size_t k = 0; k < partition.order.size(); ++k) {
      values_in_order_[k] = codes_[partition.order[k]];
      counts_in_order_[k] = rows_.counts[partition.order[k]];
    }
  }

  i64 score_small(const Partition& partition, std::size_t v, double weight) {
    const u32 width = rows_.cardinalities[v];
    Rising total(std::max(weight, TINY), scale_), part(std::max(weight / values_, TINY), scale_);
    const u32* const column = rows_.column(v);
    u32 cells[SMALL];
    i64 sum = 0;
    std::size_t begin = 0;
    for (const u32 end : partition.ends) {
      if (end - begin == 1) {
        sum += part(counts_in_order_[begin]) - total(counts_in_order_[begin]);
        begin = end;
        continue;
      }
      std::fill_n(cells, width * values_, 0);
      for (std::size_t k = begin; k < end; ++k)
        cells[column[partition.order[k]] * values_ + values_in_order_[k]] += counts_in_order_[k];
      for (u32 a = 0; a < width; ++a) {
        u64 n = 0;
        for (u32 b = 0; b < values_; ++b) {
          const u32 count = cells[a * values_ + b];
          if (count) sum += part(count);
          n += count;
        }
        if (n) sum -= total(n);
      }
      begin = end;
    }
    return sum;
  }

  const Rows& rows_;
  Refiner refiner_;
  const u32* codes_;
  u32 values_;
  double scale_;
  std::vector<u64> tally_;
  std::vector<u32> seen_, values_in_order_, counts_in_order_;
};

}  // namespace contextwise::count

// Finds the best test of a node by the rules of growth.py, on sets of rows.
//
// The rows of a node become one bit set per value of the target, without empty words. The counts of
// a candidate are the sizes of its intersections with these sets. For variables of many values it
// is faster to count row by row. A table of c ln(c + α/K) gives the score up to rounding. Only a
// candidate within rounding of the best score so far is scored by the exact rule, so the choice is
// the same as in growth.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "columns.hpp"

namespace contextwise::grow {

struct Rules {
  double penalty;
  u64 min_count;
  double prior;
};

struct Split {
  double score = 0;
  int variable = -1;
  int value = 0;
  bool found() const { return variable >= 0; }
};

// Returns c ln(c + α/K) for each count c.
inline std::vector<double> weighted_logs(std::size_t most, double part) {
  std::vector<double> logs(most + 1, 0.0);
  for (std::size_t c = 1; c <= most; ++c)
    logs[c] = static_cast<double>(c) * std::log(static_cast<double>(c) + part);
  return logs;
}

// The data, the rules and the tables of logs, which all threads share.
struct Problem {
  const Columns& columns;
  Rules rules;
  std::vector<double> of_totals;
  std::map<u32, std::vector<double>> of_counts;  // keyed by the number of values of the target
  double rounding;

  Problem(const Columns& data, const Rules& growth_rules)
      : columns(data), rules(growth_rules), of_totals(weighted_logs(data.rows, rules.prior)) {
    for (const u32 card : data.cardinalities)
      if (!of_counts.contains(card)) of_counts[card] = weighted_logs(data.rows, rules.prior / card);
    // Far above the error of a few sums of such terms, far below any meaningful difference.
    rounding = 1e-9 + 1e-11 * of_totals[data.rows];
  }
};

// Finds the best split of a node. Each thread has its own splitter and reuses its memory.
class Splitter {
 public:
  explicit Splitter(const Problem& problem) : problem_(problem), columns_(problem.columns) {
    node_.resize(columns_.words);
    gathered_.resize(columns_.words);
  }

  // Returns the counts of the target's values in the last node.
  const std::vector<u64>& counts() const { return counts_; }

  // Counts the target's values in a node.
  void look(std::span<const u32> rows, std::size_t target) { load(rows, target); }

  Split best(std::span<const u32> rows, std::size_t target) {
    load(rows, target);
    Split best;
    best.score = problem_.rules.penalty;
    const u64 least = std::max<u64>(problem_.rules.min_count, 1);  // an empty side gains nothing
    if (rows.size() < 2 * least || present_.size() < 2) return best;
    const double whole = likelihood(counts_);
    const double roughly = rough(counts_, rows.size());
    for (std::size_t v = 0; v < columns_.variables(); ++v) {
      if (v == target) continue;
      const bool tallied = tally(v, rows, target);
      for (std::size_t k = 0; k < columns_.tests(v); ++k) {
        const u64 total = tallied ? read(k) : meet(columns_.set(v, k));
        if (total < least || rows.size() - total < least) continue;
        const double about = rough(holds_, total) + rough(fails_, rows.size() - total) - roughly;
        if (about + problem_.rounding < best.score) continue;
        const double score = (likelihood(holds_) + likelihood(fails_)) - whole;
        if (score > best.score) best = {score, static_cast<int>(v), static_cast<int>(k)};
      }
    }
    return best;
  }

 private:
  // Makes the sets of the node's rows by the value of the target, without empty words.
  void load(std::span<const u32> rows, std::size_t target) {
    std::ranges::fill(node_, 0);
    for (const u32 r : rows) node_[r / 64] |= u64{1} << r % 64;
    active_.clear();
    for (std::size_t k = 0; k < columns_.words; ++k)
      if (node_[k]) active_.push_back(static_cast<u32>(k));
    const u32 card = columns_.cardinalities[target];
    logs_ = problem_.of_counts.at(card).data();
    part_ = problem_.rules.prior / card;
    counts_.assign(card, 0);
    masks_.clear();
    present_.clear();
    for (std::size_t value = 0; value < card; ++value) {
      const u64* set = columns_.set(target, value);
      const std::size_t begin = masks_.size();
      for (const u32 k : active_) masks_.push_back(node_[k] & set[k]);
      counts_[value] = common(masks_.data() + begin, masks_.data() + begin, active_.size());
      if (counts_[value])
        present_.push_back(static_cast<u32>(value));
      else
        masks_.resize(begin);
    }
    holds_.assign(card, 0);
    fails_.assign(card, 0);
  }

  // Counts all values of a variable row by row if that is less work than one intersection per
  // value. Returns whether it did.
  bool tally(std::size_t v, std::span<const u32> rows, std::size_t target) {
    const std::size_t cells = std::size_t{columns_.cardinalities[v]} * counts_.size();
    if (columns_.tests(v) * present_.size() * active_.size() <= ROW * rows.size() + cells)
      return false;
    table_.assign(cells, 0);
    const std::int32_t *tested = columns_.code(v), *wanted = columns_.code(target);
    for (const u32 r : rows)
      ++table_[static_cast<std::size_t>(tested[r]) * counts_.size() +
               static_cast<std::size_t>(wanted[r])];
    return true;
  }

  // Divides the rows by a value that was tallied. Returns how many have it.
  u64 read(std::size_t k) {
    u64 total = 0;
    for (const u32 value : present_) {
      holds_[value] = table_[k * counts_.size() + value];
      fails_[value] = counts_[value] - holds_[value];
      total += holds_[value];
    }
    return total;
  }

  // Divides the rows by a set. Returns how many are in it.
  u64 meet(const u64* set) {
    const std::size_t words = active_.size();
    if (words < columns_.words) {
      for (std::size_t k = 0; k < words; ++k) gathered_[k] = set[active_[k]];
      set = gathered_.data();
    }
    u64 total = 0;
    const u64* mask = masks_.data();
    for (const u32 value : present_) {
      holds_[value] = common(set, mask, words);
      fails_[value] = counts_[value] - holds_[value];
      total += holds_[value];
      mask += words;
    }
    return total;
  }

  // Returns L(c) from the table, up to rounding.
  double rough(const std::vector<u64>& counts, u64 total) const {
    double sum = -problem_.of_totals[total];
    for (const u32 value : present_) sum += logs_[counts[value]];
    return sum;
  }

  // Returns L(c) by the same operations as growth.py.
  double likelihood(const std::vector<u64>& counts) const {
    u64 total = 0;
    for (const u32 value : present_) total += counts[value];
    double sum = 0;
    for (const u32 value : present_)
      if (counts[value])
        sum += static_cast<double>(counts[value]) *
               std::log((static_cast<double>(counts[value]) + part_) /
                        (static_cast<double>(total) + problem_.rules.prior));
    return sum;
  }

  // Tallying one row takes as long as intersecting this many words.
  static constexpr std::size_t ROW = 3;
  const Problem& problem_;
  const Columns& columns_;
  std::vector<u32> table_;
  std::vector<u64> node_, gathered_, masks_, counts_, holds_, fails_;
  std::vector<u32> active_, present_;
  const double* logs_ = nullptr;
  double part_ = 0;
};

}  // namespace contextwise::grow

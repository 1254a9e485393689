// The best test of a node: the rules of growth.py, on sets of rows.
//
// A node's rows become one set per value of the target, squeezed to the words that are not empty; a
// candidate's counts are then the sizes of its meets with these sets. (Between variables of many
// values, counting row by row is less work, and is done instead.) A table of c ln(c + α/K) gives
// its score but for rounding; only a candidate that comes within the rounding of the best one so
// far is scored by the rule itself, log by log, so that the choice is exactly that of the readable
// twin.
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

// c ln(c + α/K) for each count c.
inline std::vector<double> weighted_logs(std::size_t most, double part) {
  std::vector<double> logs(most + 1, 0.0);
  for (std::size_t c = 1; c <= most; ++c)
    logs[c] = static_cast<double>(c) * std::log(static_cast<double>(c) + part);
  return logs;
}

// What all threads share: the data, the rules, and the tables of logs.
struct Problem {
  const Columns& columns;
  Rules rules;
  std::vector<double> of_totals;
  std::map<u32, std::vector<double>> of_counts;  // by the number of values of the target
  double rounding;

  Problem(const Columns& data, const Rules& given)
      : columns(data), rules(given), of_totals(weighted_logs(data.rows, given.prior)) {
    for (const u32 card : data.cardinalities)
      if (!of_counts.contains(card)) of_counts[card] = weighted_logs(data.rows, given.prior / card);
    // Far above the error of a few sums of terms of this size, far below what a rule could mean.
    rounding = 1e-9 + 1e-11 * of_totals[data.rows];
  }
};

// Finds the best split of one node after the other; the scratch space of one thread.
class Splitter {
 public:
  explicit Splitter(const Problem& problem) : problem_(problem), columns_(problem.columns) {
    node_.resize(columns_.words);
    gathered_.resize(columns_.words);
  }

  // The counts of the target's values among the rows of the node that was looked at last.
  const std::vector<u64>& counts() const { return counts_; }

  // `barred` marks the variables that may not be asked for, if it is not null.
  Split best(std::span<const u32> rows, std::size_t target, const std::vector<char>* barred) {
    load(rows, target);
    Split best;
    best.score = problem_.rules.penalty;
    const u64 least = std::max<u64>(problem_.rules.min_count, 1);  // an empty side gains nothing
    if (rows.size() < 2 * least || present_.size() < 2) return best;
    const double whole = likelihood(counts_);
    const double roughly = rough(counts_, rows.size());
    for (std::size_t v = 0; v < columns_.variables(); ++v) {
      if (v == target || (barred && (*barred)[v])) continue;
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
  // The sets of the node's rows by the value of the target, without empty words.
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

  // Counts all values of a variable row by row, where that is less work than a meet for each value:
  // with many values of both variables. Returns whether it did.
  bool tally(std::size_t v, std::span<const u32> rows, std::size_t target) {
    const std::size_t cells = std::size_t{columns_.cardinalities[v]} * counts_.size();
    if (columns_.tests(v) * present_.size() * active_.size() <= ROW * rows.size() + cells)
      return false;
    table_.assign(cells, 0);
    const std::int32_t *own = columns_.code(v), *wanted = columns_.code(target);
    for (const u32 r : rows)
      ++table_[static_cast<std::size_t>(own[r]) * counts_.size() +
               static_cast<std::size_t>(wanted[r])];
    return true;
  }

  // How the rows divide by a value that was tallied; returns how many have it.
  u64 read(std::size_t k) {
    u64 total = 0;
    for (const u32 value : present_) {
      holds_[value] = table_[k * counts_.size() + value];
      fails_[value] = counts_[value] - holds_[value];
      total += holds_[value];
    }
    return total;
  }

  // How the rows of the node divide by a set; returns how many are in it.
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

  // L(c) by the table: right but for rounding.
  double rough(const std::vector<u64>& counts, u64 total) const {
    double found = -problem_.of_totals[total];
    for (const u32 value : present_) found += logs_[counts[value]];
    return found;
  }

  // L(c) by the rule, value after value, as the readable twin does it.
  double likelihood(const std::vector<u64>& counts) const {
    u64 total = 0;
    for (const u32 value : present_) total += counts[value];
    double found = 0;
    for (const u32 value : present_)
      if (counts[value])
        found += static_cast<double>(counts[value]) *
                 std::log((static_cast<double>(counts[value]) + part_) /
                          (static_cast<double>(total) + problem_.rules.prior));
    return found;
  }

  static constexpr std::size_t ROW = 3;  // to tally a row takes as long as to meet so many words
  const Problem& problem_;
  const Columns& columns_;
  std::vector<u32> table_;
  std::vector<u64> node_, gathered_, masks_, counts_, holds_, fails_;
  std::vector<u32> active_, present_;
  const double* logs_ = nullptr;
  double part_ = 0;
};

}  // namespace contextwise::grow

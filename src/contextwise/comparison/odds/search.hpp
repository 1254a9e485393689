// Counts the contexts of one pair by what both models say at several tolerances.
//
// The search branches on variables. In each node it knows an interval for every contrast of both
// models. A tolerance leaves the search where the intervals decide both models; a node without
// tolerances is a leaf. Leaves are disjoint, so their sizes add up. What is cut off counts as open.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "../../counting/kernel/budget.hpp"
#include "problem.hpp"

namespace contextwise::odds {

// What is known of a model in some contexts.
enum Verdict : u32 { INDEPENDENT = 0, DEPENDENT = 1, OPEN = 2 };
inline constexpr std::size_t VERDICTS = 9;  // of two models: 3 * first + second

// The least and the largest possible strength in the contexts of a node.
struct Range {
  i64 low, high;

  Verdict at(i64 threshold) const {
    if (low > threshold) return DEPENDENT;
    return high > threshold ? OPEN : INDEPENDENT;
  }
};

// The sums of one model in the current node.
class Sums {
 public:
  explicit Sums(const Side& side)
      : side_(side), width_(side.cubes.empty() ? 0 : side.cubes[0].values.size()) {
    low_.assign(width_, 0);
    high_.assign(width_, 0);
    group_low_.assign(width_ * side.groups.size(), 0);
    group_high_ = group_low_;
    touched_.assign(side.groups.size(), 0);
    for (const Cube& cube : side.cubes) {
      left_.push_back(static_cast<i32>(cube.literals.size()));
      dead_.push_back(0);
      i64 size = 0;
      for (const i64 value : cube.values) size = std::max(size, value < 0 ? -value : value);
      if (!cube.zeros.empty()) size = std::max(size, LARGE);
      size_.push_back(static_cast<double>(size));
    }
    for (u32 g = 0; g < side.groups.size(); ++g) update(g);
    saved_.clear();
  }

  // Tests whether a cube may still hold or not.
  bool open(u32 cube) const { return !dead_[cube] && left_[cube]; }
  i32 left(u32 cube) const { return left_[cube]; }
  double size(u32 cube) const { return size_[cube]; }

  // The value of a variable satisfies a literal of a cube, or refutes it.
  void satisfy(u32 cube) {
    if (--left_[cube] == 0 && !dead_[cube]) touch(side_.cubes[cube].group);
  }
  void refute(u32 cube) {
    if (dead_[cube]++ == 0) touch(side_.cubes[cube].group);
  }
  void unsatisfy(u32 cube) { ++left_[cube]; }
  void unrefute(u32 cube) { --dead_[cube]; }

  // Updates the intervals after some changes; returns the state to go back to.
  std::size_t settle() {
    const std::size_t mark = saved_.size();
    for (const u32 g : waiting_) {
      touched_[g] = 0;
      update(g);
    }
    waiting_.clear();
    return mark;
  }
  void restore(std::size_t mark) {
    while (saved_.size() > mark) {
      const u32 g = saved_.back();
      saved_.pop_back();
      for (std::size_t k = width_; k-- > 0;) {
        i64& low = group_low_[g * width_ + k];
        i64& high = group_high_[g * width_ + k];
        high_[k] += values_.back() - high;
        high = values_.back();
        values_.pop_back();
        low_[k] += values_.back() - low;
        low = values_.back();
        values_.pop_back();
      }
    }
  }

  Range range() const {
    if (width_ == 0) return {0, 0};
    if (side_.table.zeros) return range_with_zeros();
    return side_.table.by_cells ? range_of_cells(WordList()) : range_of_contrasts();
  }

 private:
  static constexpr i64 LARGE = i64{1} << 50;  // zeros decide first

  void touch(u32 group) {
    if (touched_[group]) return;
    touched_[group] = 1;
    waiting_.push_back(group);
  }

  // Computes the interval of a group again, and saves the old one.
  void update(u32 g) {
    saved_.push_back(g);
    i64* low = &group_low_[g * width_];
    i64* high = &group_high_[g * width_];
    for (std::size_t k = 0; k < width_; ++k) {
      values_.push_back(low[k]);
      values_.push_back(high[k]);
      low_[k] -= low[k];
      high_[k] -= high[k];
      low[k] = high[k] = 0;
    }
    for (const u32 c : side_.groups[g]) {
      if (dead_[c]) continue;
      const std::vector<i64>& values = side_.cubes[c].values;
      if (left_[c] == 0) {  // it holds, and so the others do not
        std::ranges::copy(values, low);
        std::ranges::copy(values, high);
        break;
      }
      for (std::size_t k = 0; k < width_; ++k) {
        low[k] = std::min(low[k], values[k]);
        high[k] = std::max(high[k], values[k]);
      }
    }
    for (std::size_t k = 0; k < width_; ++k) {
      low_[k] += low[k];
      high_[k] += high[k];
    }
  }

  Range range_of_contrasts() const {
    Range range{0, 0};
    for (std::size_t k = 0; k < width_; ++k) {
      range.low = std::max({range.low, low_[k], -high_[k]});
      range.high = std::max({range.high, high_[k], -low_[k]});
    }
    return range;
  }

  // The same of the contrasts of possible cells, from intervals of cells or of contrasts.
  Range range_of_cells(const WordList& impossible) const {
    Range range{0, 0};
    std::size_t at = 0;
    side_.table.each_contrast([&](u32 a, u32 b, u32 c, u32 d) {
      const std::size_t k = at++;
      if (!impossible.empty() &&
          (has(impossible, a) || has(impossible, b) || has(impossible, c) || has(impossible, d)))
        return;
      i64 low, high;
      if (side_.table.by_cells) {
        low = low_[a] + low_[b] - high_[c] - high_[d];
        high = high_[a] + high_[b] - low_[c] - low_[d];
      } else {
        low = low_[k];
        high = high_[k];
      }
      range.low = std::max({range.low, low, -high});
      range.high = std::max({range.high, high, -low});
    });
    return range;
  }

  Range range_with_zeros() const {
    const Table& table = side_.table;
    WordList sure((table.cells() + 63) / 64), possible = sure;
    for (u32 c = 0; c < side_.cubes.size(); ++c) {
      const WordList& zeros = side_.cubes[c].zeros;
      if (dead_[c] || zeros.empty()) continue;
      for (std::size_t k = 0; k < zeros.size(); ++k) (left_[c] ? possible : sure)[k] |= zeros[k];
    }
    for (std::size_t k = 0; k < sure.size(); ++k)
      if (possible[k] & ~sure[k]) return {0, INFINITE};
    return is_product(sure) ? range_of_cells(sure) : Range{INFINITE, INFINITE};
  }

  // Tests whether the possible cells are all those of some rows and some columns.
  bool is_product(const WordList& impossible) const {
    const Table& table = side_.table;
    std::vector<bool> row(table.rows), column(table.columns);
    for (u32 a = 0; a < table.rows; ++a)
      for (u32 b = 0; b < table.columns; ++b)
        if (!has(impossible, a * table.columns + b)) row[a] = column[b] = true;
    for (u32 a = 0; a < table.rows; ++a)
      for (u32 b = 0; b < table.columns; ++b)
        if (row[a] && column[b] && has(impossible, a * table.columns + b)) return false;
    return true;
  }

  const Side& side_;
  std::size_t width_;
  std::vector<i32> left_, dead_;  // open and refuted literals of each cube
  std::vector<double> size_;      // the most that a cube adds
  std::vector<i64> low_, high_, group_low_, group_high_;
  std::vector<char> touched_;
  std::vector<u32> waiting_, saved_;
  std::vector<i64> values_;
};

// A number of contexts; all of one problem have equally many words.
class Sizes {
 public:
  explicit Sizes(const std::vector<Variable>& variables) {
    Natural whole(1);
    for (const Variable& variable : variables) whole *= variable.total;
    words_ = std::max<std::size_t>(1, whole.words().size());
    whole_.assign(whole.words().begin(), whole.words().end());
    whole_.resize(words_);
  }

  std::size_t words() const { return words_; }
  const WordList& whole() const { return whole_; }

  // result = size / total * weight; the division is exact.
  void share(const u64* size, u64 total, u64 weight, u64* result) const {
    u64 rest = 0;
    for (std::size_t k = words_; k-- > 0;) {
      const u64 high = rest << 32 | size[k] >> 32;
      const u64 low = (high % total) << 32 | (size[k] & 0xffffffffu);
      result[k] = (high / total) << 32 | low / total;
      rest = low % total;
    }
    if (weight == 1) return;
    u64 carry = 0;
    for (std::size_t k = 0; k < words_; ++k)
      result[k] = multiply_add(result[k], weight, carry, carry);
  }
  void add(u64* sum, const u64* size) const {
    u64 carry = 0;
    for (std::size_t k = 0; k < words_; ++k) sum[k] = add_carry(sum[k], size[k], carry);
  }

 private:
  std::size_t words_;
  WordList whole_;
};

class Search {
 public:
  // The thresholds must rise.
  Search(const Problem& problem, const std::vector<i64>& thresholds)
      : problem_(problem),
        thresholds_{thresholds, thresholds},
        sums_{Sums(problem.sides[0]), Sums(problem.sides[1])},
        sizes_(problem.variables) {
    for (int m = 0; m < 2; ++m)
      if (problem.sides[m].claims) std::ranges::fill(thresholds_[m], 0);
    find_effects();
  }

  std::size_t words() const { return sizes_.words(); }
  const WordList& whole() const { return sizes_.whole(); }

  // Returns the sizes of the nine joint verdicts at each tolerance. Nodes below `smallest`, a share
  // of all contexts, and nodes past the budget stay open.
  WordList run(Budget& budget, double smallest) {
    found_.assign(thresholds_[0].size() * VERDICTS * words(), 0);
    path_.assign((problem_.variables.size() + 1) * words(), 0);
    std::ranges::copy(sizes_.whole(), path_.begin());
    assigned_.assign(problem_.variables.size(), 0);
    budget_ = &budget;
    smallest_ = smallest;
    cut_ = false;
    visit(0, 1.0, 0, thresholds_[0].size());
    return found_;
  }
  // Whether the last run left something open.
  bool cut() const { return cut_; }

 private:
  static constexpr double NEVER = 1e300;  // below any score
  static constexpr i32 LONG = 63;         // literals; longer cubes count like this
  static constexpr double LITERAL = 1.5;  // one more open literal makes a cube less important

  struct Effect {
    std::vector<u32> satisfied[2], refuted[2];  // cubes of each model
  };

  void find_effects() {
    for (const Variable& variable : problem_.variables)
      effects_.emplace_back(variable.weights.size());
    for (int m = 0; m < 2; ++m) {
      const std::vector<Cube>& cubes = problem_.sides[m].cubes;
      scope_starts_[m].push_back(0);
      for (u32 c = 0; c < cubes.size(); ++c) {
        for (const Literal& literal : cubes[c].literals) scopes_[m].push_back(literal.variable);
        scope_starts_[m].push_back(static_cast<u32>(scopes_[m].size()));
        for (const Literal& literal : cubes[c].literals)
          for (std::size_t k = 0; k < effects_[literal.variable].size(); ++k) {
            Effect& effect = effects_[literal.variable][k];
            (has(literal.allowed, k) ? effect.satisfied : effect.refuted)[m].push_back(c);
          }
      }
    }
    scores_.resize(problem_.variables.size());
    importance_.assign(1, 1.0);
    while (importance_.size() <= LONG) importance_.push_back(importance_.back() / LITERAL);
  }

  // Counts the contexts of a node at the tolerances from `first` to `last`; the node has a depth
  // and is this share of all contexts.
  void visit(std::size_t depth, double share, std::size_t first, std::size_t last) {
    const u64* size = &path_[depth * words()];
    const Range ranges[2] = {sums_[0].range(), sums_[1].range()};
    auto verdict = [&](int m, std::size_t t) { return ranges[m].at(thresholds_[m][t]); };
    auto add = [&](std::size_t t) {
      sizes_.add(&found_[(t * VERDICTS + 3 * verdict(0, t) + verdict(1, t)) * words()], size);
    };
    auto decided = [&](std::size_t t) { return verdict(0, t) != OPEN && verdict(1, t) != OPEN; };
    // A tolerance between two that are open stays in the list; it is decided in some leaf below.
    while (first < last && decided(first)) add(first++);
    while (first < last && decided(last - 1)) add(--last);
    if (first == last) return;
    if (share < smallest_ || !budget_->enter()) {
      cut_ = true;
      for (std::size_t t = first; t < last; ++t) add(t);
      return;
    }
    bool open[2] = {false, false};
    for (std::size_t t = first; t < last; ++t)
      for (int m = 0; m < 2; ++m) open[m] |= verdict(m, t) == OPEN;
    const u32 v = choose(open);
    const Variable& variable = problem_.variables[v];
    assigned_[v] = 1;
    for (std::size_t k = 0; k < variable.weights.size(); ++k) {
      const u64 weight = variable.weights[k];
      sizes_.share(&path_[depth * words()], variable.total, weight, &path_[(depth + 1) * words()]);
      std::array<std::size_t, 2> marks = apply(effects_[v][k]);
      visit(depth + 1, share * static_cast<double>(weight) / static_cast<double>(variable.total),
            first, last);
      undo(effects_[v][k], marks);
    }
    assigned_[v] = 0;
  }

  std::array<std::size_t, 2> apply(const Effect& effect) {
    std::array<std::size_t, 2> marks{};
    for (int m = 0; m < 2; ++m) {
      for (const u32 c : effect.satisfied[m]) sums_[m].satisfy(c);
      for (const u32 c : effect.refuted[m]) sums_[m].refute(c);
      marks[m] = sums_[m].settle();
    }
    return marks;
  }
  void undo(const Effect& effect, const std::array<std::size_t, 2>& marks) {
    for (int m = 0; m < 2; ++m) {
      sums_[m].restore(marks[m]);
      for (const u32 c : effect.satisfied[m]) sums_[m].unsatisfy(c);
      for (const u32 c : effect.refuted[m]) sums_[m].unrefute(c);
    }
  }

  // Returns the variable to branch on: the one with the largest and shortest open cubes.
  u32 choose(const bool (&open)[2]) {
    for (std::size_t v = 0; v < scores_.size(); ++v) scores_[v] = assigned_[v] ? -NEVER : 0.0;
    for (int m = 0; m < 2; ++m) {
      if (!open[m]) continue;
      for (u32 c = 0; c + 1 < scope_starts_[m].size(); ++c) {
        if (!sums_[m].open(c)) continue;
        const double score = sums_[m].size(c) * importance_[std::min(sums_[m].left(c), LONG)];
        for (u32 at = scope_starts_[m][c]; at < scope_starts_[m][c + 1]; ++at)
          scores_[scopes_[m][at]] += score;
      }
    }
    return static_cast<u32>(std::ranges::max_element(scores_) - scores_.begin());
  }

  const Problem& problem_;
  std::vector<i64> thresholds_[2];
  Sums sums_[2];
  Sizes sizes_;
  std::vector<std::vector<Effect>> effects_;      // of each class of each variable
  std::vector<u32> scope_starts_[2], scopes_[2];  // the variables of each cube
  std::vector<double> scores_, importance_;
  std::vector<char> assigned_;
  WordList found_, path_;
  Budget* budget_ = nullptr;
  double smallest_ = 0;
  bool cut_ = false;
};

}  // namespace contextwise::odds

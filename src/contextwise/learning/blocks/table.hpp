// Distinct rows with their counts, and groups of rows that agree on some variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace contextwise::blocks {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// A block: the product of an indicator per state of each effect, where all literals hold. State 0
// of a variable is its reference and has no indicator.
struct Block {
  std::vector<u32> effects;
  std::vector<std::pair<u32, u64>> where;  // a variable and the set of its states

  bool operator==(const Block&) const = default;
};

// Groups of rows that agree on `variables`, numbered in the order of their first rows.
struct Groups {
  std::set<u32> variables;
  std::vector<u32> group_of;  // per row
  std::vector<u32> row;       // per group, its first row

  std::size_t size() const { return row.size(); }
};

// Returns the variables of blocks, except one.
inline std::set<u32> variables_of(const std::vector<Block>& blocks, u32 except) {
  std::set<u32> result;
  for (const Block& block : blocks) {
    result.insert(block.effects.begin(), block.effects.end());
    for (const auto& literal : block.where) result.insert(literal.first);
  }
  result.erase(except);
  return result;
}

// The functions that look for groups are not safe for several threads.
struct Table {
  std::vector<std::vector<u32>> columns;  // per variable, its state in each row
  std::vector<double> counts;
  std::vector<u32> cardinalities;

  std::size_t rows() const { return counts.size(); }

  // Splits groups by the states of more variables.
  Groups refined(const Groups& groups, const std::set<u32>& variables) const {
    Groups result{variables, groups.group_of, groups.row};
    result.variables.insert(groups.variables.begin(), groups.variables.end());
    std::vector<u64> keys(groups.group_of.begin(), groups.group_of.end());
    u64 range = std::max<u64>(1, groups.size());
    for (const u32 variable : variables) {
      if (groups.variables.count(variable)) continue;
      const u64 card = cardinalities[variable];
      if (range > std::numeric_limits<u64>::max() / card) range = renumber(keys, range, result);
      const u32* const column = columns[variable].data();
      for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = keys[k] * card + column[k];
      range *= card;
    }
    renumber(keys, range, result);
    return result;
  }

  // Returns the groups that distinguish some variables; the last ones are kept.
  std::shared_ptr<const Groups> groups_by(const std::set<u32>& variables) const {
    const auto known = known_.find(variables);
    if (known != known_.end()) return known->second;
    const Groups all{{}, std::vector<u32>(rows(), 0), std::vector<u32>(rows() ? 1 : 0, 0)};
    if (known_.size() >= MOST_KNOWN) known_.clear();
    return known_[variables] = std::make_shared<const Groups>(refined(all, variables));
  }

  // Counts the states of a variable in each group, group by group.
  std::vector<double> count(const Groups& groups, u32 variable) const {
    const u32 card = cardinalities[variable];
    std::vector<double> cells(groups.size() * card, 0.0);
    for (std::size_t row = 0; row < rows(); ++row)
      cells[std::size_t{groups.group_of[row]} * card + columns[variable][row]] += counts[row];
    return cells;
  }

 private:
  static constexpr std::size_t MOST_KNOWN = 100;
  mutable std::map<std::set<u32>, std::shared_ptr<const Groups>> known_;

  // Numbers the rows by keys below `range` and returns how many numbers there are.
  u64 renumber(std::vector<u64>& keys, u64 range, Groups& groups) const {
    groups.row.clear();
    const auto number = [&](std::size_t k, u32& known) {
      if (!known) {
        groups.row.push_back(static_cast<u32>(k));
        known = static_cast<u32>(groups.row.size());
      }
      groups.group_of[k] = known - 1;
      keys[k] = known - 1;
    };
    if (range <= 8 * keys.size()) {
      std::vector<u32> known(range, 0);
      for (std::size_t k = 0; k < keys.size(); ++k) number(k, known[keys[k]]);
    } else {
      std::size_t bits = 4;
      while (std::size_t{1} << bits < 2 * keys.size()) ++bits;
      std::vector<u32> known(std::size_t{1} << bits, 0);
      std::vector<u64> first;  // the key of each number
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const u64 key = keys[k];
        std::size_t place = (key * 0x9E3779B97F4A7C15u) >> (64 - bits);
        while (known[place] && first[known[place] - 1] != key)
          place = (place + 1) & (known.size() - 1);
        if (!known[place]) first.push_back(key);
        number(k, known[place]);
      }
    }
    return groups.size();
  }
};

}  // namespace contextwise::blocks

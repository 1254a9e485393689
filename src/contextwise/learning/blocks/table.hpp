// Distinct rows with their counts, and groups of rows that agree on some variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
};

// Groups of rows that agree on `variables`.
struct Groups {
  std::vector<u32> variables;
  std::vector<u32> group_of;           // per row
  std::vector<std::vector<u32>> code;  // per variable, its state in each group
  std::size_t size = 1;

  const std::vector<u32>& states(u32 variable) const {
    const auto place = std::find(variables.begin(), variables.end(), variable);
    return code[static_cast<std::size_t>(place - variables.begin())];
  }
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

  Groups all_rows() const {
    Groups groups;
    groups.group_of.assign(rows(), 0);
    return groups;
  }

  // Splits each group by the states of one more variable.
  void refine(Groups& groups, u32 variable) const {
    const u32 card = cardinalities[variable];
    const std::vector<u32>& column = columns[variable];
    std::vector<u32> number(groups.size * card, 0), parent, states;
    for (std::size_t row = 0; row < rows(); ++row) {
      const std::size_t place = std::size_t{groups.group_of[row]} * card + column[row];
      if (!number[place]) {
        parent.push_back(groups.group_of[row]);
        states.push_back(column[row]);
        number[place] = static_cast<u32>(parent.size());
      }
      groups.group_of[row] = number[place] - 1;
    }
    for (std::vector<u32>& code : groups.code) {
      std::vector<u32> finer(parent.size());
      for (std::size_t g = 0; g < parent.size(); ++g) finer[g] = code[parent[g]];
      code = std::move(finer);
    }
    groups.variables.push_back(variable);
    groups.code.push_back(std::move(states));
    groups.size = parent.size();
  }

  // Returns the groups that tell some variables apart; the last ones are kept.
  std::shared_ptr<const Groups> groups_by(const std::set<u32>& variables) const {
    std::shared_ptr<const Groups>& known = known_[variables];
    if (!known) {
      Groups groups = all_rows();
      for (const u32 variable : variables) refine(groups, variable);
      if (known_.size() > MOST_KNOWN) {
        known_.clear();
        return known_[variables] = std::make_shared<const Groups>(std::move(groups));
      }
      known = std::make_shared<const Groups>(std::move(groups));
    }
    return known;
  }

  // Counts the states of a variable in each group, group by group.
  std::vector<double> count(const Groups& groups, u32 variable) const {
    const u32 card = cardinalities[variable];
    std::vector<double> cells(groups.size * card, 0.0);
    for (std::size_t row = 0; row < rows(); ++row)
      cells[std::size_t{groups.group_of[row]} * card + columns[variable][row]] += counts[row];
    return cells;
  }

 private:
  static constexpr std::size_t MOST_KNOWN = 100;
  mutable std::map<std::set<u32>, std::shared_ptr<const Groups>> known_;
};

}  // namespace contextwise::blocks

// An order of the variables that follows from the cover alone, whatever their numbers.
//
// Two variables are adjacent if a cube tests both. Variables are listed breadth first, beginning
// with one that is far from others. Then the variables in the middle of the list separate those
// before them from those after them. So a cover that is long, such as a chain, falls into halves
// where the recursion branches. Branching in the order of the list needs as many subproblems as its
// layers have assignments: few for a grid.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "cover.hpp"

namespace contextwise {

class BreadthFirst {
 public:
  explicit BreadthFirst(const Cover& cover)
      : cubes_(cover.size()), scopes_{0}, holders_(cover.variables() + 1, 0) {
    std::vector<u32> variable_of(cover.bits());
    for (u32 v = 0; v < cover.variables(); ++v)
      for (u32 bit = cover.start[v]; bit < cover.start[v + 1]; ++bit) variable_of[bit] = v;
    for (std::size_t c = 0; c < cover.size(); ++c) {
      for_each_bit({cover.cube(c), cover.words()}, [&](std::size_t bit) {
        tested_.push_back(variable_of[bit]);
        ++holders_[variable_of[bit] + 1];
      });
      scopes_.push_back(static_cast<u32>(tested_.size()));
    }
    std::partial_sum(holders_.begin(), holders_.end(), holders_.begin());
    held_.resize(tested_.size());
    std::vector<u32> at(holders_.begin(), holders_.end() - 1);
    for (u32 c = 0; c < cubes_; ++c)
      for (u32 k = scopes_[c]; k < scopes_[c + 1]; ++k) held_[at[tested_[k]]++] = c;
  }

  std::vector<u32> run() const {
    const std::size_t variables = holders_.size() - 1;
    std::vector<u32> order;
    std::vector<char> listed(variables, 0);
    for (u32 v = 0; v < variables; ++v) {
      if (listed[v]) continue;
      for (u32 u : from(from(v).back())) {
        order.push_back(u);
        listed[u] = 1;
      }
    }
    return order;
  }

 private:
  // Lists the variables that are connected with one, the nearest first.
  std::vector<u32> from(u32 first) const {
    std::vector<u32> found{first};
    std::vector<char> seen(holders_.size(), 0), used(cubes_, 0);
    seen[first] = 1;
    for (std::size_t at = 0; at < found.size(); ++at)
      for (u32 h = holders_[found[at]]; h < holders_[found[at] + 1]; ++h) {
        const u32 c = held_[h];
        for (u32 k = used[c] ? scopes_[c + 1] : scopes_[c]; k < scopes_[c + 1]; ++k)
          if (!seen[tested_[k]]) {
            seen[tested_[k]] = 1;
            found.push_back(tested_[k]);
          }
        used[c] = 1;
      }
    return found;
  }

  std::size_t cubes_;
  std::vector<u32> scopes_, tested_;  // cube c tests tested_[scopes_[c]..scopes_[c + 1])
  std::vector<u32> holders_, held_;   // variable v is tested by held_[holders_[v]..holders_[v + 1])
};

// Returns the cover with its variables in this order.
inline Cover breadth_first(const Cover& cover) {
  return Compaction(cover).run(BreadthFirst(cover).run());
}

}  // namespace contextwise

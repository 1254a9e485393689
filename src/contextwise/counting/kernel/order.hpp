// An order of branching that follows from the cover alone, whatever the numbers of its variables.
//
// Two variables are adjacent if a cube tests both. Variables are eliminated one by one, each time
// one whose neighbours need the fewest new edges (min-fill). Branching starts with the variable
// that is eliminated last. Then the variables below fall apart soon, and the cache makes the number
// of subproblems linear in the variables and exponential only in the width of the order: a chain
// has width 1, a grid about its side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "bits.hpp"
#include "cover.hpp"

namespace contextwise {

class Elimination {
 public:
  explicit Elimination(const Cover& cover) {
    const std::size_t n = cover.variables();
    std::vector<u32> variable_of(cover.bits());
    for (u32 v = 0; v < n; ++v)
      std::fill(variable_of.begin() + cover.start[v], variable_of.begin() + cover.start[v + 1], v);
    adjacent_.assign(n, Bits<0>((n + 63) / 64));
    for (std::size_t c = 0; c < cover.size(); ++c) {
      Bits<0> scope((n + 63) / 64);
      for_each_bit({cover.cube(c), cover.words()},
                   [&](std::size_t bit) { scope.set(variable_of[bit]); });
      for_each_bit(scope, [&](std::size_t v) { adjacent_[v] |= scope; });
    }
    left_.resize(n);
    std::iota(left_.begin(), left_.end(), u32{0});
    fill_.assign(n, UNKNOWN);
  }

  // Returns the variables in the order of branching.
  std::vector<u32> run() {
    std::vector<u32> order;
    while (!left_.empty()) {
      for (u32 v : left_)
        if (fill_[v] == UNKNOWN) fill_[v] = fill_of(v);
      const auto next = std::ranges::min_element(left_, {}, [&](u32 v) { return fill_[v]; });
      const u32 gone = *next;
      left_.erase(next);
      order.push_back(gone);
      eliminate(gone);
    }
    std::ranges::reverse(order);
    return order;
  }

 private:
  static constexpr u64 UNKNOWN = ~u64{0};

  // Counts the edges that are missing among the neighbours of a variable, twice each.
  u64 fill_of(u32 v) const {
    u64 missing = 0;
    for_each_bit(adjacent_[v], [&](std::size_t u) {
      missing += static_cast<u64>((adjacent_[v] - adjacent_[u]).count());
    });
    return missing;
  }

  // Connects the neighbours of a variable, and removes it. The variables within two steps of it may
  // have another fill afterwards.
  void eliminate(u32 v) {
    Bits<0> alone(adjacent_[v].words.size());
    alone.set(v);
    const Bits<0> near = adjacent_[v] - alone;
    for_each_bit(near, [&](std::size_t u) {
      adjacent_[u] |= near;
      adjacent_[u] -= alone;
    });
    for_each_bit(near, [&](std::size_t u) {
      for_each_bit(adjacent_[u], [&](std::size_t w) { fill_[w] = UNKNOWN; });
    });
  }

  std::vector<Bits<0>> adjacent_;  // each variable is adjacent to itself
  std::vector<u32> left_;
  std::vector<u64> fill_;
};

// Returns the cover with its variables in the order of branching.
inline Cover in_branching_order(const Cover& cover) {
  const std::vector<u32> order = Elimination(cover).run();
  Cover result;
  std::vector<u32> moved(cover.bits());
  for (u32 v : order) {
    for (u32 bit = cover.start[v]; bit < cover.start[v + 1]; ++bit) {
      moved[bit] = result.start.back() + bit - cover.start[v];
      if (!cover.weights.empty()) result.weights.push_back(cover.weights[bit]);
    }
    result.start.push_back(result.start.back() + cover.start[v + 1] - cover.start[v]);
    result.names.push_back(cover.names[v]);
  }
  const std::size_t words = cover.words();
  result.forbidden.assign(cover.forbidden.size(), 0);
  for (std::size_t c = 0; c < cover.size(); ++c)
    for_each_bit({cover.cube(c), words}, [&](std::size_t bit) {
      result.forbidden[c * words + moved[bit] / 64] |= u64{1} << moved[bit] % 64;
    });
  return result;
}

}  // namespace contextwise

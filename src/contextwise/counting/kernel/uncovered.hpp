// Counts the weight that a cover leaves uncovered, by the method that suits the cover.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "cover.hpp"
#include "interval.hpp"
#include "order.hpp"
#include "recursion.hpp"
#include "simplify.hpp"
#include "steps.hpp"
#include "truth.hpp"

namespace contextwise {

// Tests whether a truth table of the cover is small enough.
inline bool fits_a_table(const Cover& cover) {
  return uses(Step::TABLES) && cover.variables() <= TRUTH_VARIABLES && cover.is_binary();
}

inline u64 uncovered_in_table(const Cover& cover) {
  std::vector<SmallCube> cubes;
  std::vector<u64> table;
  cubes.reserve(cover.size());
  for (const u64& forbids : cover.forbidden)  // fewer than 32 variables, so one word per cube
    cubes.push_back(small_cube({&forbids, 1}, [](std::size_t v) { return static_cast<u32>(v); }));
  return uncovered_by_table(cubes.data(), cubes.size(), static_cast<int>(cover.variables()), table);
}

// Nodes after which a cover is hard. Among 700 pairs of the largest models of jester, the hardest
// needs 21,060.
inline constexpr u64 EASY = 1 << 15;
// With more words per cube (more than 96 binary variables) the numbers of the variables matter, so
// that they are renumbered breadth first. Below, this takes longer than it saves.
inline constexpr std::size_t NARROW = 3;

// Searches depth first with half of the budget. A cover that is not easy is also searched by
// branching on its variables breadth first: the two searches take turns, and each turn has twice as
// many nodes as the last. So the better one decides the time, up to a factor.
//
// If that does not finish, the other half of the budget goes into sweeps over the larger
// subproblems, each deeper than the last, so that the bounds tighten evenly. Each turn and each
// sweep uses the cached results of earlier ones.
template <class N, int W>
Interval<Natural> uncovered_by_recursion(const Cover& cover, Budget& budget, std::size_t memory) {
  Recursion<N, W> recursion(cover.words() > NARROW ? breadth_first(cover) : cover, budget,
                            memory / 2);
  std::optional<Recursion<N, W>> in_order;
  const u64 whole = budget.nodes;
  const u64 half = whole == Budget::UNLIMITED ? whole : whole - whole / 2;
  budget.nodes = std::min(half, EASY);
  Interval<N> result = recursion.run(0);
  bool turn = true;
  for (u64 more = 2 * EASY; !result.closed() && budget.extend(half); more *= 2, turn = !turn) {
    if (!in_order) in_order.emplace(breadth_first(cover), budget, memory / 2, true);
    budget.nodes = std::min(half, budget.used + more);
    result.meet((turn ? *in_order : recursion).run(0));
  }
  for (double least = 1.0 / 16; !result.closed() && budget.extend(whole); least /= 16)
    result.meet(recursion.run(least));
  if (!result.closed()) result.meet(recursion.at_first_sight());
  Interval<Natural> exact(Natural(result.low.words()));
  exact.gap = Natural(result.gap.words());
  return exact;
}

// Counts the weight of the assignments that no cube allows. `memory` is the size of the cache of
// `Recursion` in bytes.
inline Interval<Natural> uncovered(const Cover& cover, Budget& budget, std::size_t memory) {
  if (fits_a_table(cover)) return Interval<Natural>(Natural(uncovered_in_table(cover)));
  Natural total(1);
  for (std::size_t v = 0; v < cover.variables(); ++v) total *= cover.total(v);
  const std::size_t bits = total.bits(), words = cover.words();
  // Each width is compiled separately (recursions.hpp lists them). These fit nearly all covers.
  if (bits <= 64 && words <= 1) return uncovered_by_recursion<Wide<1>, 1>(cover, budget, memory);
  if (bits <= 64 && words <= 2) return uncovered_by_recursion<Wide<1>, 2>(cover, budget, memory);
  if (bits <= 128 && words <= 3) return uncovered_by_recursion<Wide<2>, 3>(cover, budget, memory);
  if (bits <= 128 && words <= 4) return uncovered_by_recursion<Wide<2>, 4>(cover, budget, memory);
  if (bits <= 256 && words <= 8) return uncovered_by_recursion<Wide<4>, 8>(cover, budget, memory);
  return uncovered_by_recursion<Natural, 0>(cover, budget, memory);
}

// The same for a cover that is not simplified. Its variables are named 0, 1, …
inline Interval<Natural> uncovered_by_any(Cover cover, Budget& budget, std::size_t memory) {
  std::vector<Natural> totals;
  for (std::size_t v = 0; v < cover.variables(); ++v) totals.push_back(cover.total(v));
  Simplifier().run(cover, budget);
  const Cover small = compacted(cover);
  Interval<Natural> result = uncovered(small, budget, memory);
  for (u32 v = 0; v < totals.size(); ++v)
    if (!std::ranges::binary_search(small.names, v)) result *= totals[v];
  return result;
}

}  // namespace contextwise

// From a reduced cover to the weight it leaves uncovered: the way that fits the cover.
#pragma once

#include "solver.hpp"

namespace contextwise {

// Few binary variables, without setting up a recursion.
inline bool is_small(const Cover& cover) {
  return cover.variables() <= TRUTH_VARIABLES && cover.is_binary();
}

inline u64 solve_small(const Cover& cover) {
  std::vector<SmallCube> cubes;
  std::vector<u64> table;
  cubes.reserve(cover.size());
  for (const u64& forbids : cover.cubes)  // fewer than 32 variables: one word a cube
    cubes.push_back(small_cube({&forbids, 1}, [](std::size_t v) { return static_cast<u32>(v); }));
  return uncovered_by_table(cubes.data(), cubes.size(), static_cast<int>(cover.variables()), table);
}

// Depth first while half of the budget lasts. If that does not finish, the other half goes into
// sweeps over the larger subproblems, each deeper than the one before, so that the bounds close in
// evenly; what a sweep finishes is remembered for the next one.
template <class N, int W>
Bounds<Natural> solve_as(const Cover& cover, Budget& budget, std::size_t memory) {
  Solver<N, W> solver(cover, budget, memory);
  const u64 whole = budget.nodes;
  if (whole != Budget::UNLIMITED) budget.nodes = whole - whole / 2;
  Bounds<N> result = solver.run(0);
  for (double least = 1.0 / 16; !result.closed() && budget.extend(whole); least /= 16)
    result.meet(solver.run(least));
  if (!result.closed()) result.meet(solver.at_first_sight());
  return {Natural(result.low), Natural(result.high)};
}

// The weight of the assignments of the cover's variables that no cube allows.
inline Bounds<Natural> solve(const Cover& cover, Budget& budget, std::size_t memory) {
  if (is_small(cover)) return Bounds<Natural>(Natural(solve_small(cover)));
  Natural total(1);
  for (std::size_t v = 0; v < cover.variables(); ++v) total *= cover.total(v);
  const std::size_t bits = total.bits(), words = cover.words();
  // Each width is compiled by itself; these few fit nearly all covers.
  if (bits <= 64 && words <= 1) return solve_as<Wide<1>, 1>(cover, budget, memory);
  if (bits <= 64 && words <= 2) return solve_as<Wide<1>, 2>(cover, budget, memory);
  if (bits <= 128 && words <= 3) return solve_as<Wide<2>, 3>(cover, budget, memory);
  if (bits <= 128 && words <= 4) return solve_as<Wide<2>, 4>(cover, budget, memory);
  if (bits <= 256 && words <= 8) return solve_as<Wide<4>, 8>(cover, budget, memory);
  return solve_as<Natural, 0>(cover, budget, memory);
}

}  // namespace contextwise

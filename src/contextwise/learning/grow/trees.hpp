// Grows trees, each alone. trees.py explains the method.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <vector>

#include "splits.hpp"

namespace contextwise::grow {

// A tree in preorder: a node, the side where its test holds, the side where it fails. The variable
// of a leaf is -1.
struct Tree {
  std::vector<std::int64_t> variables, values, counts;

  void add(const Split& split) {
    variables.push_back(split.variable);
    values.push_back(split.value);
  }
  void add_leaf(const std::vector<u64>& leaf_counts) {
    add(Split{});
    counts.insert(counts.end(), leaf_counts.begin(), leaf_counts.end());
  }
};

// The rows of a node: a range of a list of all rows, which a split divides in place.
struct Range {
  u32 begin, end;
};

inline std::vector<u32> all_rows(const Columns& columns) {
  std::vector<u32> rows(columns.rows);
  std::iota(rows.begin(), rows.end(), u32{0});
  return rows;
}

inline std::span<const u32> part_of(const std::vector<u32>& rows, Range range) {
  return {rows.data() + range.begin, rows.data() + range.end};
}

// Moves the rows where the test holds to the front. Returns where the others begin.
inline u32 divide(const Columns& columns, std::vector<u32>& rows, Range range, const Split& split) {
  const u64* set =
      columns.set(static_cast<std::size_t>(split.variable), static_cast<std::size_t>(split.value));
  const auto middle = std::partition(rows.begin() + range.begin, rows.begin() + range.end,
                                     [set](u32 r) { return set[r / 64] >> r % 64 & 1; });
  return static_cast<u32>(middle - rows.begin());
}

inline Tree grow_tree(Splitter& splitter, const Columns& columns, std::size_t target,
                      const std::atomic<bool>& stop) {
  Tree tree;
  std::vector<u32> rows = all_rows(columns);
  std::vector<Range> waiting{{0, static_cast<u32>(columns.rows)}};
  while (!waiting.empty()) {
    const Range range = waiting.back();
    waiting.pop_back();
    Split split;
    if (stop)
      splitter.look(part_of(rows, range), target);
    else
      split = splitter.best(part_of(rows, range), target);
    if (!split.found()) {
      tree.add_leaf(splitter.counts());
      continue;
    }
    tree.add(split);
    const u32 middle = divide(columns, rows, range, split);
    waiting.push_back({middle, range.end});
    waiting.push_back({range.begin, middle});
  }
  return tree;
}

inline std::vector<Tree> grow_trees(const Problem& problem, unsigned threads, const Watch& watch) {
  std::vector<Tree> trees(problem.columns.variables());
  Runner runner(threads, watch);
  runner.run(trees.size(), [&] {
    return [&, splitter = std::make_shared<Splitter>(problem)](std::size_t target) {
      trees[target] = grow_tree(*splitter, problem.columns, target, runner.stop());
    };
  });
  Splitter splitter(problem);
  for (std::size_t target = 0; target < trees.size(); ++target)
    if (trees[target].variables.empty())  // stopped before it began
      trees[target] = grow_tree(splitter, problem.columns, target, runner.stop());
  return trees;
}

}  // namespace contextwise::grow

// Grows trees, each alone or all together without cycles. growth.py explains the method.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <queue>
#include <tuple>
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
      split = splitter.best(part_of(rows, range), target, nullptr);
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

// Grows all trees at once and takes the best split of all leaves first, without cycles between the
// variables.
class AcyclicGrowth {
 public:
  AcyclicGrowth(const Problem& problem, unsigned threads, const Watch& watch)
      : problem_(problem), columns_(problem.columns), runner_(threads, watch), splitter_(problem) {
    const std::size_t count = columns_.variables();
    dependent_.assign(count, std::vector<char>(count, 0));
    for (std::size_t v = 0; v < count; ++v) dependent_[v][v] = 1;
    growing_.resize(count);
  }

  std::vector<Tree> run() {
    runner_.run(growing_.size(), [&] {
      return [&, splitter = std::make_shared<Splitter>(problem_)](std::size_t target) {
        growing_[target].rows = all_rows(columns_);
        add_node(*splitter, target, {0, static_cast<u32>(columns_.rows)}, 0);
      };
    });
    for (std::size_t t = 0; t < growing_.size(); ++t)
      if (growing_[t].nodes.empty()) {  // stopped before it began
        growing_[t].rows = all_rows(columns_);
        splitter_.look(growing_[t].rows, t);
        growing_[t].nodes.push_back(
            {{0, static_cast<u32>(columns_.rows)}, {}, 0, 0, 0, splitter_.counts()});
      }
    for (std::size_t t = 0; t < growing_.size(); ++t) offer(t, 0);
    std::size_t steps = 0;
    while (!heap_.empty() && !runner_.stop()) {
      if (++steps % 64 == 0) runner_.look();
      step();
    }
    std::vector<Tree> trees;
    for (const Growing& growing : growing_) trees.push_back(in_preorder(growing));
    return trees;
  }

 private:
  struct Node {
    Range range;
    Split split;  // the best known split; it was taken if the node has sides
    std::size_t holds = 0, fails = 0;
    u64 born = 0;
    std::vector<u64> counts;
  };
  struct Growing {
    std::vector<u32> rows;
    std::vector<Node> nodes;
  };
  // Ordered by score; ties by the smaller target, then the older leaf.
  struct Offer {
    double score;
    std::size_t target;
    u64 born;
    std::size_t node;
    bool operator<(const Offer& other) const {
      return std::tie(other.score, target, born) > std::tie(score, other.target, other.born);
    }
  };

  std::size_t add_node(Splitter& splitter, std::size_t target, Range range, u64 born) {
    Growing& growing = growing_[target];
    Node node{range, {}, 0, 0, born, {}};
    node.split = splitter.best(part_of(growing.rows, range), target, barred(target));
    node.counts = splitter.counts();
    growing.nodes.push_back(std::move(node));
    return growing.nodes.size() - 1;
  }

  // Testing a variable that depends on the target would close a cycle.
  const std::vector<char>* barred(std::size_t target) const { return &dependent_[target]; }

  void offer(std::size_t target, std::size_t at) {
    const Node& node = growing_[target].nodes[at];
    if (node.split.found()) heap_.push({node.split.score, target, node.born, at});
  }

  void step() {
    const Offer best = heap_.top();
    heap_.pop();
    const std::size_t target = best.target;
    const Range range = growing_[target].nodes[best.node].range;
    const Split split = growing_[target].nodes[best.node].split;
    const auto variable = static_cast<std::size_t>(split.variable);
    if (dependent_[target][variable]) {  // it was allowed when it was offered
      growing_[target].nodes[best.node].split =
          splitter_.best(part_of(growing_[target].rows, range), target, barred(target));
      offer(target, best.node);
      return;
    }
    add_dependence(target, variable);
    const u32 middle = divide(columns_, growing_[target].rows, range, split);
    const std::size_t holds = add_node(splitter_, target, {range.begin, middle}, ++age_);
    const std::size_t fails = add_node(splitter_, target, {middle, range.end}, ++age_);
    Node& node = growing_[target].nodes[best.node];
    node.holds = holds;
    node.fails = fails;
    offer(target, holds);
    offer(target, fails);
  }

  // Notes that the target tests the variable: everything that depends on the target now depends on
  // everything that the variable depends on.
  void add_dependence(std::size_t target, std::size_t variable) {
    for (std::vector<char>& dependent : dependent_)
      if (dependent[variable])
        for (std::size_t v = 0; v < dependent.size(); ++v) dependent[v] |= dependent_[target][v];
  }

  static Tree in_preorder(const Growing& growing) {
    Tree tree;
    std::vector<std::size_t> waiting{0};
    while (!waiting.empty()) {
      const Node& node = growing.nodes[waiting.back()];
      waiting.pop_back();
      if (node.holds == 0) {
        tree.add_leaf(node.counts);
        continue;
      }
      tree.add(node.split);
      waiting.push_back(node.fails);
      waiting.push_back(node.holds);
    }
    return tree;
  }

  const Problem& problem_;
  const Columns& columns_;
  Runner runner_;
  Splitter splitter_;
  std::vector<std::vector<char>> dependent_;  // [t][v]: v depends on t, directly or not
  std::vector<Growing> growing_;
  std::priority_queue<Offer> heap_;
  u64 age_ = 0;
};

}  // namespace contextwise::grow

// The maximal cliques of a graph, by the algorithm of Bron and Kerbosch with pivots.
#pragma once

#include <bit>

#include "rows.hpp"

namespace contextwise::count {

class Cliques {
 public:
  // `graph` is a symmetric adjacency matrix without loops.
  Cliques(const bool* graph, std::size_t nodes)
      : nodes_(nodes), words_((nodes + 63) / 64), adjacent_(nodes * words_, 0) {
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t b = 0; b < nodes; ++b)
        if (graph[a * nodes + b]) adjacent_[a * words_ + b / 64] |= u64{1} << b % 64;
  }

  // All maximal cliques of two or more nodes, each in ascending order.
  std::vector<std::vector<u32>> find() {
    Set candidates(words_, 0);
    for (std::size_t a = 0; a < nodes_; ++a)
      if (std::ranges::any_of(neighbours(a), [](u64 word) { return word != 0; }))
        candidates[a / 64] |= u64{1} << a % 64;
    extend(candidates, Set(words_, 0));
    return std::move(found_);
  }

 private:
  using Set = std::vector<u64>;

  std::span<const u64> neighbours(std::size_t node) const {
    return {adjacent_.data() + node * words_, words_};
  }
  Set meet(const Set& set, std::size_t node) const {
    Set result(words_);
    for (std::size_t k = 0; k < words_; ++k) result[k] = set[k] & neighbours(node)[k];
    return result;
  }
  static bool empty(const Set& set) {
    return std::ranges::all_of(set, [](u64 word) { return word == 0; });
  }
  template <class Visit>
  static void each(const Set& set, const Visit& visit) {
    for (std::size_t k = 0; k < set.size(); ++k)
      for (u64 word = set[k]; word; word &= word - 1)
        visit(64 * k + static_cast<std::size_t>(std::countr_zero(word)));
  }

  // Extends the clique by the candidates; `excluded` nodes were tried before.
  void extend(Set candidates, Set excluded) {
    if (empty(candidates)) {
      if (empty(excluded) && clique_.size() > 1) {
        found_.push_back(clique_);
        std::ranges::sort(found_.back());
      }
      return;
    }
    std::size_t pivot = 0;
    int most = -1;
    const auto consider = [&](std::size_t node) {
      int common = 0;
      for (std::size_t k = 0; k < words_; ++k)
        common += std::popcount(candidates[k] & neighbours(node)[k]);
      if (common > most) {
        most = common;
        pivot = node;
      }
    };
    each(candidates, consider);
    each(excluded, consider);
    Set tried = candidates;
    for (std::size_t k = 0; k < words_; ++k) tried[k] &= ~neighbours(pivot)[k];
    each(tried, [&](std::size_t node) {
      clique_.push_back(static_cast<u32>(node));
      extend(meet(candidates, node), meet(excluded, node));
      clique_.pop_back();
      candidates[node / 64] &= ~(u64{1} << node % 64);
      excluded[node / 64] |= u64{1} << node % 64;
    });
  }

  std::size_t nodes_, words_;
  std::vector<u64> adjacent_;
  std::vector<u32> clique_;
  std::vector<std::vector<u32>> found_;
};

}  // namespace contextwise::count

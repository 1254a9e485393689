// The search of CSPC: one graph per distinct row, by tests on the rows that agree with it.
//
// Each pair of variables has the set of the rows in whose graph it is an edge. A test depends on
// the pair, the conditioning set S and the values of S only, so the search walks through the
// assignments of values to sets S: a node has the rows that agree with its values, and for each
// variable v those of them in whose graph S are neighbours of v. A leaf makes each test once and
// deletes the edge in all rows concerned.
#pragma once

#include <atomic>
#include <bit>
#include <functional>
#include <memory>

#include "../../learning/grow/columns.hpp"
#include "gamma_tail.hpp"
#include "tests.hpp"

namespace contextwise::count {

using grow::Watch;
using Bits = std::vector<u64>;

// A set of rows, by its words that are not empty. Deep nodes have few rows, so most words are.
struct SparseSet {
  std::vector<u32> places;
  Bits words;

  void clear() {
    places.clear();
    words.clear();
  }
  void push(u32 place, u64 word) {
    places.push_back(place);
    words.push_back(word);
  }
};

// Counts the rows of a set that are in a column too.
CONTEXTWISE_VERSIONS
inline u64 common_at(const u64* set, const u32* places, std::size_t words, const u64* column) {
  u64 total = 0;
  for (std::size_t k = 0; k < words; ++k)
    total += static_cast<u64>(std::popcount(set[k] & column[places[k]]));
  return total;
}

// Rows by the bits of their counts: set p has the rows with bit p.
using CountedSet = std::vector<SparseSet>;

inline double count_in(const CountedSet& rows, const u64* column) {
  u64 total = 0;
  for (std::size_t p = 0; p < rows.size(); ++p)
    total += common_at(rows[p].words.data(), rows[p].places.data(), rows[p].places.size(), column)
             << p;
  return static_cast<double>(total);
}

class ContextGraphs {
 public:
  ContextGraphs(const Rows& rows, std::vector<u32> varying, double level, double min_count)
      : rows_(rows),
        varying_(std::move(varying)),
        words_((rows.size() + 63) / 64),
        level_(level),
        min_count_(min_count),
        pairs_(rows.variables() * rows.variables(), 0),
        deleted_(rows.variables()) {
    make_columns();
    std::size_t count = 0;
    for (const u32 a : varying_)
      for (const u32 b : varying_)
        if (a < b) pairs_[a * rows.variables() + b] = pairs_[b * rows.variables() + a] = count++;
    for (std::size_t pair = 0; pair < count; ++pair)
      edges_.insert(edges_.end(), all_.begin(), all_.end());
  }

  // Deletes edges by tests given sets of `size` neighbours; returns whether larger sets can delete
  // more. If the watcher returns false, it stops with some edges deleted.
  bool delete_edges(std::size_t size, unsigned threads, const Watch& watch) {
    before_ = edges_;
    // What deleted most edges with smaller sets comes first: a deleted edge needs no more tests.
    std::ranges::stable_sort(varying_, std::greater{}, [&](u32 v) { return deleted_[v]; });
    std::ranges::fill(deleted_, u64{0});
    const Bits ends = with_degree_above(size);
    grow::Runner runner(threads, watch);
    runner.run(size ? varying_.size() : 1, [&] {
      auto walk = std::make_shared<Walk>(*this, size, ends, runner.stop());
      return [walk](std::size_t unit) { walk->run(unit); };
    });
    const auto filled = [](u64 word) { return word != 0; };
    return !runner.stop() && std::ranges::any_of(with_degree_above(size + 1), filled);
  }

  const Rows& rows() const { return rows_; }

  // Fills an adjacency matrix per distinct row.
  void graphs(bool* result) const {
    const std::size_t n = rows_.variables();
    std::fill_n(result, n * n * rows_.size(), false);
    for (const u32 a : varying_)
      for (const u32 b : varying_)
        if (a != b)
          for (std::size_t r = 0; r < rows_.size(); ++r)
            result[(r * n + a) * n + b] = edges_[edge(a, b) + r / 64] >> r % 64 & 1;
  }

 private:
  // Where the rows with this edge begin.
  std::size_t edge(u32 a, u32 b) const { return pairs_[a * rows_.variables() + b] * words_; }
  const u64* column(u32 v, u32 value) const {
    return columns_.data() + (first_[v] + value) * words_;
  }

  // Makes a set of rows per value of each variable, and per bit of the counts.
  void make_columns() {
    std::size_t sets = 0;
    for (const u32 card : rows_.cardinalities) first_.push_back(std::exchange(sets, sets + card));
    columns_.assign(sets * words_, 0);
    all_.assign(words_, 0);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const u64 bit = u64{1} << r % 64;
      all_[r / 64] |= bit;
      for (std::size_t v = 0; v < rows_.variables(); ++v)
        columns_[(first_[v] + rows_.column(v)[r]) * words_ + r / 64] |= bit;
      planes_.resize(
          std::max(planes_.size(), static_cast<std::size_t>(std::bit_width(rows_.counts[r]))),
          Bits(words_, 0));
      for (std::size_t p = 0; p < planes_.size(); ++p)
        if (rows_.counts[r] >> p & 1) planes_[p][r / 64] |= bit;
    }
  }

  // Returns for each variable the rows in whose graph it has more than `size` neighbours.
  Bits with_degree_above(std::size_t size) const {
    Bits result(rows_.variables() * words_, 0);
    for (const u32 a : varying_)
      for (std::size_t w = 0; w < words_; ++w) {
        std::array<u32, 64> degrees{};
        for (const u32 b : varying_)
          if (b != a)
            for (u64 word = edges_[edge(a, b) + w]; word; word &= word - 1)
              ++degrees[static_cast<std::size_t>(std::countr_zero(word))];
        for (std::size_t bit = 0; bit < 64; ++bit)
          if (degrees[bit] > size) result[a * words_ + w] |= u64{1} << bit;
      }
    return result;
  }

  // An assignment of values to a set of variables.
  struct Node {
    SparseSet rows;           // that agree
    std::vector<u32> places;  // the words of rows where some variable has the set as neighbours
    std::vector<u32> ends;    // such variables
    Bits near;                // and for each the rows in these words
    std::vector<std::pair<u32, u32>> pairs;  // with an edge in such a row
  };

  // Walks through the assignments; holds the scratch space of one thread.
  class Walk {
   public:
    Walk(ContextGraphs& search, std::size_t size, const Bits& ends, const std::atomic<bool>& stop)
        : search_(search),
          rows_(search.rows_),
          size_(size),
          stop_(stop),
          nodes_(size + 1),
          set_(size),
          places_(rows_.variables(), NONE),
          margins_(rows_.variables()) {
      Node& root = nodes_[0];
      for (u32 place = 0; place < search.words_; ++place) {
        root.rows.push(place, search.all_[place]);
        root.places.push_back(place);
      }
      root.ends = search.varying_;
      for (const u32 v : root.ends)
        root.near.insert(root.near.end(), ends.begin() + v * search.words_,
                         ends.begin() + (v + 1) * search.words_);
      for (const u32 a : root.ends)
        for (const u32 b : root.ends)
          if (a < b) root.pairs.emplace_back(a, b);
    }

    // Walks through the sets whose first variable has this number.
    void run(std::size_t unit) {
      if (size_)
        extend(0, unit);
      else if (has_enough_rows(nodes_[0]))
        test(nodes_[0]);
    }

   private:
    static constexpr u32 NONE = ~u32{0};
    static constexpr std::size_t SMALL = 64;

    // Adds one variable to the set of a node.
    void extend(std::size_t depth, std::size_t number) {
      const u32 v = set_[depth] = search_.varying_[number];
      for (u32 value = 0; value < rows_.cardinalities[v] && !stop_; ++value)
        if (make_child(nodes_[depth], v, search_.column(v, value), nodes_[depth + 1]))
          visit(depth + 1, number);
    }

    void visit(std::size_t depth, std::size_t number) {
      if (depth == size_) {
        test(nodes_[depth]);
        return;
      }
      const std::size_t last = search_.varying_.size() - (size_ - depth);
      for (std::size_t next = number + 1; next <= last && !stop_; ++next) extend(depth, next);
    }

    // Fills the node of the rows in a column of v too; returns whether it has anything to test.
    bool make_child(const Node& node, u32 v, const u64* column, Node& child) {
      if (!find_near(node, v, column, child)) return false;
      meet(node.rows, column, child.rows);
      if (!has_enough_rows(child)) return false;
      number_ends(child);
      child.pairs.clear();
      for (const auto& [a, b] : node.pairs)
        if (a != v && b != v && is_wanted(child, a, b)) child.pairs.emplace_back(a, b);
      return !child.pairs.empty();
    }

    // Finds the ends of a child, and for each the rows where v is a neighbour of it too.
    bool find_near(const Node& node, u32 v, const u64* column, Node& child) {
      const std::size_t width = node.places.size();
      child.ends.clear();
      child.near.resize(node.near.size());
      either_.assign(width, 0);
      for (std::size_t e = 0; e < node.ends.size(); ++e) {
        if (node.ends[e] == v) continue;
        const u64* const edge = search_.before_.data() + search_.edge(node.ends[e], v);
        const u64* const from = node.near.data() + e * width;
        u64* const to = child.near.data() + child.ends.size() * width;
        u64 any = 0;
        for (std::size_t k = 0; k < width; ++k)
          any |= to[k] = from[k] & edge[node.places[k]] & column[node.places[k]];
        if (!any) continue;
        child.ends.push_back(node.ends[e]);
        for (std::size_t k = 0; k < width; ++k) either_[k] |= to[k];
      }
      if (child.ends.empty()) return false;
      child.places.clear();
      for (std::size_t k = 0; k < width; ++k)
        if (either_[k]) child.places.push_back(node.places[k]);
      u64* to = child.near.data();  // close the gaps
      for (std::size_t e = 0; e < child.ends.size(); ++e)
        for (std::size_t k = 0; k < width; ++k)
          if (either_[k]) *to++ = child.near[e * width + k];
      return true;
    }

    void number_ends(const Node& node) {
      std::ranges::fill(places_, NONE);
      for (u32 e = 0; e < node.ends.size(); ++e) places_[node.ends[e]] = e;
    }

    // Whether the pair has an edge in a row where the set are neighbours of one of them.
    bool is_wanted(const Node& node, u32 a, u32 b) const {
      const u64* const edge = search_.edges_.data() + search_.edge(a, b);
      for (const u32 v : {a, b})
        if (places_[v] != NONE)
          for (std::size_t k = 0, at = places_[v] * node.places.size(); k < node.places.size(); ++k)
            if (node.near[at + k] & load(edge[node.places[k]])) return true;
      return false;
    }

    // Other threads delete edges at the same time.
    static u64 load(const u64& word) {
      return std::atomic_ref<u64>(const_cast<u64&>(word)).load(std::memory_order_relaxed);
    }

    void test(const Node& node) {
      count_rows(node);
      for (std::vector<double>& margins : margins_) margins.clear();
      number_ends(node);
      u32 first = NONE;
      for (const auto& [a, b] : node.pairs) {
        if (a != first) count_rows_by(first = a);
        if (is_independent(node, a, b)) remove(node, a, b);
      }
    }

    void remove(const Node& node, u32 a, u32 b) {
      u64* const edge = search_.edges_.data() + search_.edge(a, b);
      u64 deleted = 0;
      for (const u32 v : {a, b})
        if (places_[v] != NONE)
          for (std::size_t k = 0; k < node.places.size(); ++k)
            if (const u64 word = node.near[places_[v] * node.places.size() + k]) {
              const u64 was = std::atomic_ref<u64>(edge[node.places[k]])
                                  .fetch_and(~word, std::memory_order_relaxed);
              deleted += static_cast<u64>(std::popcount(was & word));
            }
      for (const u32 v : set_)
        std::atomic_ref<u64>(search_.deleted_[v]).fetch_add(deleted, std::memory_order_relaxed);
    }

    // -- counts ----------------------------------------------------------------------------------

    // A table of fewer rows cannot decide anything: it has at least four cells.
    bool has_enough_rows(const Node& node) const {
      const double needed = std::max(4.0, 4 * search_.min_count_);
      double total = 0;
      for (std::size_t k = 0; k < node.rows.places.size() && total < needed; ++k)
        for (u64 word = node.rows.words[k]; word; word &= word - 1)
          total += rows_.counts[64 * node.rows.places[k] +
                                static_cast<std::size_t>(std::countr_zero(word))];
      return total >= needed;
    }

    void count_rows(const Node& node) {
      counted_.resize(search_.planes_.size());
      for (std::size_t p = 0; p < counted_.size(); ++p)
        meet(node.rows, search_.planes_[p].data(), counted_[p]);
    }

    // Prepares the rows with each value of a variable, for its tests with many others.
    void count_rows_by(u32 v) {
      by_value_.resize(rows_.cardinalities[v] - 1, CountedSet(counted_.size()));
      for (u32 value = 0; value < by_value_.size(); ++value)
        for (std::size_t p = 0; p < counted_.size(); ++p)
          meet(counted_[p], search_.column(v, value), by_value_[value][p]);
    }

    static void meet(const SparseSet& set, const u64* column, SparseSet& result) {
      result.clear();
      for (std::size_t k = 0; k < set.places.size(); ++k)
        if (const u64 word = set.words[k] & column[set.places[k]]) result.push(set.places[k], word);
    }

    // How many rows have each value of a variable.
    const std::vector<double>& margins(u32 v) {
      if (margins_[v].empty())
        for (u32 value = 0; value < rows_.cardinalities[v]; ++value)
          margins_[v].push_back(count_in(counted_, search_.column(v, value)));
      return margins_[v];
    }

    bool is_independent(const Node& node, u32 a, u32 b) {
      Sums sums{};
      if (u64{rows_.cardinalities[a]} * rows_.cardinalities[b] > SMALL) {
        Partition all;
        for (std::size_t k = 0; k < node.rows.places.size(); ++k)
          for (u64 word = node.rows.words[k]; word; word &= word - 1)
            all.order.push_back(64 * node.rows.places[k] +
                                static_cast<u32>(std::countr_zero(word)));
        all.ends.push_back(static_cast<u32>(all.order.size()));
        sums = Tester(rows_, a).tests(std::move(all), {&b, 1}).front();
      } else {
        add_table(sums, margins(a), margins(b), squares(a, b));
      }
      const auto& [statistic, mean, variance, largest, rows, cells] = sums;
      if (cells == 0 || rows < search_.min_count_ * cells || variance <= 1e-12) return false;
      const double rate = mean / variance, shape = mean * rate;
      return gamma_tail(shape, statistic * rate) > search_.level_ &&
             gamma_tail(shape, largest * rate) <= search_.level_;
    }

    // Σ n_ij² / (r_i c_j). The margins give the last row and the last column without counting.
    double squares(u32 a, u32 b) {
      const std::vector<double>& r = margins(a);
      const std::vector<double>& c = margins(b);
      std::array<double, SMALL> left;
      std::ranges::copy(c, left.begin());
      double total = 0;
      for (u32 i = 0; i < r.size(); ++i) {
        double rest = r[i];
        for (u32 j = 0; j < c.size(); ++j) {
          double n = rest;
          if (i + 1 == r.size())
            n = left[j];
          else if (j + 1 < c.size())
            n = count_in(by_value_[i], search_.column(b, j));
          rest -= n;
          left[j] -= n;
          if (n > 0) total += n * n / (r[i] * c[j]);
        }
      }
      return total;
    }

    ContextGraphs& search_;
    const Rows& rows_;
    std::size_t size_;
    const std::atomic<bool>& stop_;
    std::vector<Node> nodes_;
    std::vector<u32> set_;                      // the variables of the current node
    std::vector<u32> places_;                   // of each variable among the ends of a node
    CountedSet counted_;                        // the rows of a node
    std::vector<CountedSet> by_value_;          // by the values of the first variable of a pair
    std::vector<std::vector<double>> margins_;  // of each variable, once it was tested
    Bits either_;
  };

  const Rows& rows_;
  std::vector<u32> varying_;
  std::size_t words_;  // of a set of rows
  double level_, min_count_;
  std::vector<std::size_t> pairs_, first_;
  std::vector<u64> deleted_;  // edges, by tests given each variable and others
  Bits all_, columns_, edges_, before_;
  std::vector<Bits> planes_;
};

}  // namespace contextwise::count

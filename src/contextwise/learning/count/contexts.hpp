// The search of CSPC: one graph per distinct row, by tests on the rows that agree with it.
//
// Each pair of variables has the set of the rows in whose graph it is an edge. A test depends on the
// pair, the conditioning set S and the values of S only, so the search walks through the
// assignments of values to sets S: a node has the rows that agree with its values, and for each
// variable v those of them in whose graph S are neighbours of v. A leaf makes each test once and
// deletes the edge in all rows concerned. cspc.py has a readable version.
#pragma once

#include <atomic>
#include <bit>
#include <functional>
#include <memory>

#include "../grow/columns.hpp"
#include "../grow/runner.hpp"
#include "gamma_tail.hpp"
#include "tests.hpp"

namespace contextwise::count {

using grow::Watch;

// Counts the bits of a set that are in a column too; `places` are its words in the column.
CONTEXTWISE_VERSIONS
inline u64 common_at(const u64* set, const u64* column, const u32* places, std::size_t words) {
  u64 total = 0;
  for (std::size_t k = 0; k < words; ++k)
    total += static_cast<u64>(std::popcount(set[k] & column[places[k]]));
  return total;
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
    order_.resize(rows.size());
    std::iota(order_.begin(), order_.end(), u32{0});
    std::ranges::stable_sort(order_, [&](u32 a, u32 b) {
      return std::bit_width(rows.counts[a]) > std::bit_width(rows.counts[b]);
    });
    make_planes();
    make_columns();
    std::size_t count = 0;
    for (const u32 a : varying_)
      for (const u32 b : varying_)
        if (a < b) pairs_[a * rows.variables() + b] = pairs_[b * rows.variables() + a] = count++;
    edges_.assign(count * words_, ~u64{0});
    if (rows.size() % 64)
      for (std::size_t pair = 1; pair <= count; ++pair)
        edges_[pair * words_ - 1] = (u64{1} << rows.size() % 64) - 1;
  }

  // Deletes edges by tests given sets of `size` neighbours; returns whether larger sets can delete
  // more. If the watcher returns false, it stops with some edges deleted.
  bool delete_edges(std::size_t size, unsigned threads, const Watch& watch) {
    before_ = edges_;
    size_ = size;
    find_ends();
    // What deleted most edges with smaller sets comes first: a deleted edge needs no more tests.
    std::ranges::stable_sort(varying_, std::greater{}, [&](u32 v) { return deleted_[v]; });
    std::ranges::fill(deleted_, u64{0});
    grow::Runner runner(threads, watch);
    const std::size_t units = size ? varying_.size() : 1;
    runner.run(units, [&] {
      auto walk = std::make_shared<Walk>(*this, runner.stop());
      return [walk](std::size_t unit) { walk->run(unit); };
    });
    return !runner.stop() && any_degree_above(size + 1);
  }

  const Rows& rows() const { return rows_; }

  // Fills an adjacency matrix per distinct row.
  void graphs(bool* result) const {
    const std::size_t n = rows_.variables();
    std::fill_n(result, n * n * rows_.size(), false);
    for (const u32 a : varying_)
      for (const u32 b : varying_)
        if (a != b) {
          const u64* const edge = edges_.data() + pair(a, b) * words_;
          for (std::size_t r = 0; r < rows_.size(); ++r)
            result[(order_[r] * n + a) * n + b] = edge[r / 64] >> r % 64 & 1;
        }
  }

 private:
  using Bits = std::vector<u64>;
  static constexpr std::size_t SMALL = 16;
  static constexpr u32 NONE = ~u32{0};

  std::size_t pair(u32 a, u32 b) const { return pairs_[a * rows_.variables() + b]; }
  const u64* column(u32 v, u32 value) const { return columns_.data() + (first_[v] + value) * words_; }

  // One set of rows per bit of the counts; the rows with large counts are in the first words.
  void make_planes() {
    for (int bit = 0;; ++bit) {
      Bits plane;
      for (std::size_t r = 0; r < order_.size(); ++r)
        if (rows_.counts[order_[r]] >> bit & 1) {
          plane.resize(r / 64 + 1, 0);
          plane[r / 64] |= u64{1} << r % 64;
        }
      planes_.push_back(std::move(plane));
      if (order_.empty() || std::bit_width(rows_.counts[order_[0]]) <= bit + 1) break;
    }
  }

  // One set of rows per value of each variable.
  void make_columns() {
    std::size_t sets = 0;
    for (const u32 card : rows_.cardinalities) {
      first_.push_back(sets);
      sets += card;
    }
    columns_.assign(sets * words_, 0);
    for (std::size_t v = 0; v < rows_.variables(); ++v)
      for (std::size_t r = 0; r < order_.size(); ++r)
        columns_[(first_[v] + rows_.column(v)[order_[r]]) * words_ + r / 64] |= u64{1} << r % 64;
  }

  // Finds for each variable the rows in whose graph it has more than `size_` neighbours.
  void find_ends() {
    ends_.assign(rows_.variables() * words_, 0);
    std::vector<u32> degrees(64);
    for (const u32 a : varying_)
      for (std::size_t w = 0; w < words_; ++w) {
        std::ranges::fill(degrees, 0);
        for (const u32 b : varying_)
          if (b != a)
            for (u64 word = before_[pair(a, b) * words_ + w]; word; word &= word - 1)
              ++degrees[static_cast<std::size_t>(std::countr_zero(word))];
        for (std::size_t bit = 0; bit < 64; ++bit)
          if (degrees[bit] > size_) ends_[a * words_ + w] |= u64{1} << bit;
      }
  }

  bool any_degree_above(std::size_t size) {
    before_ = edges_;
    size_ = size;
    find_ends();
    return std::ranges::any_of(ends_, [](u64 word) { return word != 0; });
  }

  // An assignment of values to a set of variables.
  struct Node {
    std::vector<u32> words;       // the words of rows that agree
    Bits mask;                    // and the rows in them
    std::vector<u32> near_words;  // the words of rows where some variable has the set as neighbours
    std::vector<u32> ends;        // such variables
    Bits near;                    // and for each the rows in near_words
    std::vector<std::pair<u32, u32>> pairs;  // with an edge in such a row
  };

  // Walks through the assignments; holds the scratch space of one thread.
  class Walk {
   public:
    Walk(ContextGraphs& search, const std::atomic<bool>& stop)
        : search_(search),
          rows_(search.rows_),
          stop_(stop),
          nodes_(search.size_ + 1),
          set_(search.size_),
          places_(rows_.variables(), NONE),
          above_(search.level_),
          margins_(search.columns_.size() / std::max<std::size_t>(1, search.words_)) {
      Node& root = nodes_[0];
      for (u32 w = 0; w < search.words_; ++w) {
        root.words.push_back(w);
        root.mask.push_back(mask_of(w));
      }
      root.near_words = root.words;
      for (const u32 v : search.varying_) root.ends.push_back(v);
      for (const u32 v : root.ends)
        root.near.insert(root.near.end(), search.ends_.begin() + v * search.words_,
                         search.ends_.begin() + (v + 1) * search.words_);
      for (const u32 a : root.ends)
        for (const u32 b : root.ends)
          if (a < b) root.pairs.emplace_back(a, b);
    }

    // Walks through the sets whose first variable has this number.
    void run(std::size_t unit) {
      if (search_.size_ == 0) {
        if (weight(nodes_[0]) >= fewest()) test(nodes_[0]);
      } else {
        extend(0, unit);
      }
    }

   private:
    u64 mask_of(u32 w) const {
      const std::size_t rest = rows_.size() - std::size_t{w} * 64;
      return rest >= 64 ? ~u64{0} : (u64{1} << rest) - 1;
    }
    // A table of fewer rows cannot decide anything: it has at least four cells.
    double fewest() const { return std::max(4.0, 4 * search_.min_count_); }

    // Adds one variable to the set of a node.
    void extend(std::size_t depth, std::size_t number) {
      const u32 v = set_[depth] = search_.varying_[number];
      const Node& node = nodes_[depth];
      // The rows where v is a neighbour too, of each end.
      std::vector<u32>& ends = added_ends_;
      Bits& near = added_near_;
      ends.clear();
      near.clear();
      const std::size_t width = node.near_words.size();
      for (std::size_t e = 0; e < node.ends.size(); ++e) {
        if (node.ends[e] == v) continue;
        const u64* const edge = search_.before_.data() + search_.pair(node.ends[e], v) * search_.words_;
        u64 any = 0;
        const std::size_t at = near.size();
        near.resize(at + width);
        for (std::size_t k = 0; k < width; ++k)
          any |= near[at + k] = node.near[e * width + k] & edge[node.near_words[k]];
        if (any)
          ends.push_back(node.ends[e]);
        else
          near.resize(at);
      }
      if (ends.empty()) return;
      union_.assign(width, 0);
      for (std::size_t e = 0; e < ends.size(); ++e)
        for (std::size_t k = 0; k < width; ++k) union_[k] |= near[e * width + k];
      const std::vector<u32> kept_ends = ends;  // the children use the scratch space
      const Bits kept_near = near, kept_union = union_;
      for (u32 value = 0; value < rows_.cardinalities[v] && !stop_; ++value)
        if (make_child(node, nodes_[depth + 1], v, value, kept_ends, kept_near, kept_union))
          visit(depth + 1, number);
    }

    void visit(std::size_t depth, std::size_t number) {
      if (depth == search_.size_) {
        test(nodes_[depth]);
        return;
      }
      const std::size_t last = search_.varying_.size() - (search_.size_ - depth);
      for (std::size_t next = number + 1; next <= last && !stop_; ++next) extend(depth, next);
    }

    // Fills the node where v has this value too; returns whether it has anything to test.
    bool make_child(const Node& node, Node& child, u32 v, u32 value, const std::vector<u32>& ends,
                    const Bits& near, const Bits& all) {
      const u64* const column = search_.column(v, value);
      const std::size_t width = node.near_words.size();
      child.near_words.clear();
      kept_.clear();
      for (u32 k = 0; k < width; ++k)
        if (all[k] & column[node.near_words[k]]) {
          kept_.push_back(k);
          child.near_words.push_back(node.near_words[k]);
        }
      if (kept_.empty()) return false;
      child.words.clear();
      child.mask.clear();
      for (std::size_t k = 0; k < node.words.size(); ++k)
        if (const u64 word = node.mask[k] & column[node.words[k]]) {
          child.words.push_back(node.words[k]);
          child.mask.push_back(word);
        }
      if (weight(child) < fewest()) return false;
      child.ends.clear();
      child.near.clear();
      for (std::size_t e = 0; e < ends.size(); ++e) {
        u64 any = 0;
        const std::size_t at = child.near.size();
        for (std::size_t k = 0; k < kept_.size(); ++k) {
          child.near.push_back(near[e * width + kept_[k]] & column[child.near_words[k]]);
          any |= child.near.back();
        }
        if (any) {
          places_[ends[e]] = static_cast<u32>(child.ends.size());
          child.ends.push_back(ends[e]);
        } else {
          child.near.resize(at);
        }
      }
      child.pairs.clear();
      for (const auto& [a, b] : node.pairs)
        if (a != v && b != v && is_wanted(child, a, b)) child.pairs.emplace_back(a, b);
      for (const u32 end : child.ends) places_[end] = NONE;
      return !child.pairs.empty();
    }

    // Whether the pair has an edge in a row where the set are neighbours of one of them.
    bool is_wanted(const Node& node, u32 a, u32 b) const {
      const u32 first = places_[a], second = places_[b];
      if (first == NONE && second == NONE) return false;
      const std::size_t width = node.near_words.size();
      const u64* const near = node.near.data() + width * (first == NONE ? second : first);
      const u64* const also = node.near.data() + width * (second == NONE ? first : second);
      const u64* const edge = search_.edges_.data() + search_.pair(a, b) * search_.words_;
      for (std::size_t k = 0; k < width; ++k)
        if ((near[k] | also[k]) & load(edge[node.near_words[k]])) return true;
      return false;
    }

    static u64 load(const u64& word) {
      return std::atomic_ref<u64>(const_cast<u64&>(word)).load(std::memory_order_relaxed);
    }

    // Tests all pairs of a node.
    void test(const Node& node) {
      for (std::size_t e = 0; e < node.ends.size(); ++e) places_[node.ends[e]] = static_cast<u32>(e);
      flatten(node);
      std::ranges::fill(margins_, NONE);
      u32 current = NONE;
      for (const auto& [a, b] : node.pairs) {
        if (a != current) intersect(current = a);
        if (is_independent(node, a, b)) remove(node, a, b);
      }
      for (const u32 end : node.ends) places_[end] = NONE;
    }

    void remove(const Node& node, u32 a, u32 b) {
      const std::size_t width = node.near_words.size();
      u64* const edge = search_.edges_.data() + search_.pair(a, b) * search_.words_;
      u64 deleted = 0;
      for (const u32 v : {a, b})
        if (places_[v] != NONE)
          for (std::size_t k = 0; k < width; ++k)
            if (const u64 word = node.near[width * places_[v] + k]) {
              const u64 was = std::atomic_ref<u64>(edge[node.near_words[k]])
                                  .fetch_and(~word, std::memory_order_relaxed);
              deleted += static_cast<u64>(std::popcount(was & word));
            }
      for (const u32 v : set_)
        std::atomic_ref<u64>(search_.deleted_[v]).fetch_add(deleted, std::memory_order_relaxed);
    }

    // -- counts ----------------------------------------------------------------------------------

    double weight(const Node& node) {
      flatten(node);
      u64 total = 0;
      for (std::size_t p = 0, k = 0; p < ends_of_planes_.size(); k = ends_of_planes_[p++])
        total += grow::common(flat_.data() + k, flat_.data() + k, ends_of_planes_[p] - k) << p;
      return static_cast<double>(total);
    }

    // Splits the rows of a node by the bits of their counts.
    void flatten(const Node& node) {
      flat_.clear();
      flat_words_.clear();
      ends_of_planes_.clear();
      for (const Bits& plane : search_.planes_) {
        for (std::size_t k = 0; k < node.words.size() && node.words[k] < plane.size(); ++k)
          if (const u64 word = node.mask[k] & plane[node.words[k]]) {
            flat_.push_back(word);
            flat_words_.push_back(node.words[k]);
          }
        ends_of_planes_.push_back(flat_.size());
      }
    }

    u32 count(const Bits& set, const u64* column) const {
      u64 total = 0;
      for (std::size_t p = 0, k = 0; p < ends_of_planes_.size(); k = ends_of_planes_[p++])
        total += common_at(set.data() + k, column, flat_words_.data() + k, ends_of_planes_[p] - k) << p;
      return static_cast<u32>(total);
    }

    // Prepares the sets of rows in which a variable has each value.
    void intersect(u32 a) {
      const u32 card = rows_.cardinalities[a];
      with_value_.resize(std::max<std::size_t>(with_value_.size(), card));
      if (card > SMALL) return;
      for (u32 value = 0; value < card; ++value) {
        const u64* const column = search_.column(a, value);
        Bits& set = with_value_[value];
        set.resize(flat_.size());
        for (std::size_t k = 0; k < flat_.size(); ++k) set[k] = flat_[k] & column[flat_words_[k]];
      }
    }

    u32 margin(u32 v, u32 value) {
      u32& known = margins_[search_.first_[v] + value];
      if (known == NONE) known = count(flat_, search_.column(v, value));
      return known;
    }

    bool is_independent(const Node& node, u32 a, u32 b) {
      const u32 values = rows_.cardinalities[a], width = rows_.cardinalities[b];
      Sums sums{};
      if (u64{values} * width > SMALL) {
        Partition part;
        for (std::size_t k = 0; k < node.words.size(); ++k)
          for (u64 word = node.mask[k]; word; word &= word - 1)
            part.order.push_back(search_.order_[64 * node.words[k] +
                                                static_cast<std::size_t>(std::countr_zero(word))]);
        part.ends.push_back(static_cast<u32>(part.order.size()));
        sums = Tester(rows_, a).tests(std::move(part), {&b, 1}).front();
      } else {
        std::array<double, SMALL> r, c;
        double squares = 0;
        for (u32 i = 0; i < values; ++i) r[i] = margin(a, i);
        for (u32 j = 0; j < width; ++j) c[j] = margin(b, j);
        std::array<double, SMALL> left;  // of each column, for its last row
        std::copy_n(c.begin(), width, left.begin());
        for (u32 i = 0; i < values; ++i) {
          double rest = r[i];
          for (u32 j = 0; j < width; ++j) {
            double n = rest;
            if (i + 1 == values)
              n = left[j];
            else if (j + 1 < width)
              n = count(with_value_[i], search_.column(b, j));
            rest -= n;
            left[j] -= n;
            if (n > 0) squares += n * n / (r[i] * c[j]);
          }
        }
        add_table(sums, {r.data(), values}, {c.data(), width}, squares);
      }
      const auto& [statistic, mean, variance, largest, rows, cells] = sums;
      if (!(cells > 0 && rows >= search_.min_count_ * cells && variance > 1e-12)) return false;
      const double scale = variance / mean, shape = mean / scale;
      return above_(shape, std::max(statistic, 0.0) / scale) &&
             !above_(shape, std::max(largest, 0.0) / scale);
    }

    ContextGraphs& search_;
    const Rows& rows_;
    const std::atomic<bool>& stop_;
    std::vector<Node> nodes_;
    std::vector<u32> set_;     // the variables of the current node
    std::vector<u32> places_;  // of each variable among the ends of a node
    TailAbove above_;
    std::vector<u32> margins_, added_ends_, kept_, flat_words_;
    Bits added_near_, union_, flat_;
    std::vector<std::size_t> ends_of_planes_;
    std::vector<Bits> with_value_;
  };

  const Rows& rows_;
  std::vector<u32> varying_;
  std::size_t words_, size_ = 0;
  double level_, min_count_;
  std::vector<std::size_t> pairs_, first_;
  std::vector<u64> deleted_;  // edges, by tests given each variable and others
  std::vector<u32> order_;                 // the rows by falling counts
  std::vector<Bits> planes_;
  Bits columns_, edges_, before_, ends_;
};

}  // namespace contextwise::count

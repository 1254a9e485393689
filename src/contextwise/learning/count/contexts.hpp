// The search of CSPC: one graph per distinct row, by tests on the rows that agree with it.
//
// Each pair of variables has the set of the rows in whose graph it is an edge. A test depends on
// the pair, the conditioning set S and the values of S only, so the search walks through the
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

// Moves the bits of a word that are in the mask to its low end.
inline u64 extract_slowly(u64 word, u64 mask) {
  u64 result = 0;
  for (int at = 0; mask; mask &= mask - 1, ++at)
    result |= (word >> std::countr_zero(mask) & 1) << at;
  return result;
}
#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("bmi2"))) inline u64 extract_quickly(u64 word, u64 mask) {
  return __builtin_ia32_pext_di(word, mask);
}
#endif

// A set of rows: the numbers of its words that are not empty, and the words.
struct Selection {
  std::vector<u32> words;
  std::vector<u64> mask;
};

// Packs the bits of selected rows without gaps.
template <class Extract>
void pack_with(const Extract& extract, const Selection& rows, const u64* column, std::size_t words,
               u64* packed) {
  u64 word = 0;
  int used = 0;
  for (std::size_t k = 0; k < rows.words.size() && rows.words[k] < words; ++k) {
    const int count = std::popcount(rows.mask[k]);
    const u64 bits = extract(column[rows.words[k]], rows.mask[k]);
    word |= bits << used;
    used += count;
    if (used >= 64) {
      *packed++ = word;
      used -= 64;
      word = used ? bits >> (count - used) : 0;
    }
  }
  if (used) *packed = word;
}
#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("bmi2,popcnt"),
               flatten)) inline void pack_quickly(const Selection& rows, const u64* column,
                                                  std::size_t words, u64* packed) {
  pack_with(extract_quickly, rows, column, words, packed);
}
#endif
inline void pack(const Selection& rows, const u64* column, std::size_t words, u64* packed) {
#if defined(__GNUC__) && defined(__x86_64__)
  static const bool quick = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (quick) return pack_quickly(rows, column, words, packed);
#endif
  pack_with(extract_slowly, rows, column, words, packed);
}

// Some of the rows, without gaps: a set of them per value of each variable and per bit of the
// counts.
struct Space {
  std::size_t words = 0;
  std::vector<u64> columns;
  std::vector<std::vector<u64>> planes;  // without empty words at the end
  std::vector<u32> rows;

  const u64* column(std::size_t number) const { return columns.data() + number * words; }

  // Fills this with the selected rows of another space.
  void pack(const Space& from, const Selection& selection) {
    rows.clear();
    for (std::size_t k = 0; k < selection.words.size(); ++k)
      for (u64 word = selection.mask[k]; word; word &= word - 1)
        rows.push_back(
            from.rows[64 * selection.words[k] + static_cast<std::size_t>(std::countr_zero(word))]);
    words = (rows.size() + 63) / 64;
    const std::size_t sets = from.columns.size() / std::max<std::size_t>(1, from.words);
    columns.resize(sets * words);
    for (std::size_t k = 0; k < sets; ++k)
      count::pack(selection, from.column(k), from.words, columns.data() + k * words);
    planes.resize(from.planes.size());
    for (std::size_t k = 0; k < planes.size(); ++k) {
      planes[k].assign(words, 0);
      count::pack(selection, from.planes[k].data(), from.planes[k].size(), planes[k].data());
      while (!planes[k].empty() && planes[k].back() == 0) planes[k].pop_back();
    }
  }
};

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
    std::vector<u32>& order = space_.rows;
    order.resize(rows.size());
    std::iota(order.begin(), order.end(), u32{0});
    std::ranges::stable_sort(order, [&](u32 a, u32 b) {
      return std::bit_width(rows.counts[a]) > std::bit_width(rows.counts[b]);
    });
    space_.words = words_;
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
            result[(space_.rows[r] * n + a) * n + b] = edge[r / 64] >> r % 64 & 1;
        }
  }

 private:
  using Bits = std::vector<u64>;
  static constexpr std::size_t SMALL = 16;
  static constexpr std::size_t MANY = 200;  // pairs that are worth the packing of rows
  static constexpr u32 NONE = ~u32{0};

  std::size_t pair(u32 a, u32 b) const { return pairs_[a * rows_.variables() + b]; }

  // One set of rows per bit of the counts; the rows with large counts are in the first words.
  void make_planes() {
    for (int bit = 0;; ++bit) {
      Bits plane;
      for (std::size_t r = 0; r < space_.rows.size(); ++r)
        if (rows_.counts[space_.rows[r]] >> bit & 1) {
          plane.resize(r / 64 + 1, 0);
          plane[r / 64] |= u64{1} << r % 64;
        }
      space_.planes.push_back(std::move(plane));
      if (space_.rows.empty() ||
          static_cast<int>(std::bit_width(rows_.counts[space_.rows[0]])) <= bit + 1)
        break;
    }
  }

  // One set of rows per value of each variable.
  void make_columns() {
    std::size_t sets = 0;
    for (const u32 card : rows_.cardinalities) {
      first_.push_back(sets);
      sets += card;
    }
    space_.columns.assign(sets * words_, 0);
    for (std::size_t v = 0; v < rows_.variables(); ++v)
      for (std::size_t r = 0; r < space_.rows.size(); ++r)
        space_.columns[(first_[v] + rows_.column(v)[space_.rows[r]]) * words_ + r / 64] |=
            u64{1} << r % 64;
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
    Selection rows;               // that agree
    const Space* within;          // and where
    double weight = 0;            // and how many these are
    Space space;                  // of these rows, if they were packed
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
          added_(search.size_ + 1),
          margins_(std::accumulate(rows_.cardinalities.begin(), rows_.cardinalities.end(),
                                   std::size_t{0})),
          sides_(rows_.variables()) {
      Node& root = nodes_[0];
      root.within = &search.space_;
      select_all(root);
      root.near_words = root.rows.words;
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
        find_weight(nodes_[0]);
        if (nodes_[0].weight >= fewest()) test(0);
      } else {
        extend(0, unit);
      }
    }

   private:
    static void select_all(Node& node) {
      const std::size_t rows = node.within->rows.size();
      node.rows.words.resize(node.within->words);
      std::iota(node.rows.words.begin(), node.rows.words.end(), u32{0});
      node.rows.mask.assign(node.within->words, ~u64{0});
      if (rows % 64) node.rows.mask.back() = (u64{1} << rows % 64) - 1;
    }
    // A table of fewer rows cannot decide anything: it has at least four cells.
    double fewest() const { return std::max(4.0, 4 * search_.min_count_); }

    // Adds one variable to the set of a node.
    void extend(std::size_t depth, std::size_t number) {
      const u32 v = set_[depth] = search_.varying_[number];
      const Node& node = nodes_[depth];
      // The rows where v is a neighbour too, of each end.
      auto& [ends, near, either] = added_[depth];
      ends.clear();
      const std::size_t width = node.near_words.size();
      near.resize(node.ends.size() * width);
      for (std::size_t e = 0; e < node.ends.size(); ++e) {
        if (node.ends[e] == v) continue;
        const u64* const edge =
            search_.before_.data() + search_.pair(node.ends[e], v) * search_.words_;
        const u64* const from = node.near.data() + e * width;
        u64* const to = near.data() + ends.size() * width;
        const u64 any = width == search_.words_
                            ? meet(from, edge, width, to)
                            : meet_at(edge, from, node.near_words.data(), width, to);
        if (any) ends.push_back(node.ends[e]);
      }
      if (ends.empty()) return;
      either.assign(width, 0);
      for (std::size_t e = 0; e < ends.size(); ++e)
        for (std::size_t k = 0; k < width; ++k) either[k] |= near[e * width + k];
      for (u32 value = 0; value < rows_.cardinalities[v] && !stop_; ++value)
        if (make_child(depth, v, value, ends, near, either)) visit(depth + 1, number);
    }

    void visit(std::size_t depth, std::size_t number) {
      if (depth == search_.size_) {
        test(depth);
        return;
      }
      const std::size_t last = search_.varying_.size() - (search_.size_ - depth);
      for (std::size_t next = number + 1; next <= last && !stop_; ++next) extend(depth, next);
    }

    // Fills the node where v has this value too; returns whether it has anything to test.
    bool make_child(std::size_t depth, u32 v, u32 value, const std::vector<u32>& ends,
                    const Bits& near, const Bits& all) {
      const Node& node = nodes_[depth];
      Node& child = nodes_[depth + 1];
      const u64* const column = search_.space_.column(search_.first_[v] + value);
      const std::size_t width = node.near_words.size();
      child.near_words.clear();
      kept_.clear();
      for (u32 k = 0; k < width; ++k)
        if (all[k] & column[node.near_words[k]]) {
          kept_.push_back(k);
          child.near_words.push_back(node.near_words[k]);
        }
      if (kept_.empty()) return false;
      child.rows.words.clear();
      child.rows.mask.clear();
      child.within = node.within;
      const u64* const with_value = node.within->column(search_.first_[v] + value);
      for (std::size_t k = 0; k < node.rows.words.size(); ++k)
        if (const u64 word = node.rows.mask[k] & with_value[node.rows.words[k]]) {
          child.rows.words.push_back(node.rows.words[k]);
          child.rows.mask.push_back(word);
        }
      find_weight(child);
      if (child.weight < fewest()) return false;
      child.ends.clear();
      child.near.resize(ends.size() * kept_.size());
      near_column_.resize(kept_.size());
      for (std::size_t k = 0; k < kept_.size(); ++k) near_column_[k] = column[child.near_words[k]];
      u64* to = child.near.data();
      for (std::size_t e = 0; e < ends.size(); ++e) {
        const u64* const from = near.data() + e * width;
        const u64 any = kept_.size() == width
                            ? meet(from, near_column_.data(), width, to)
                            : meet_at(from, near_column_.data(), kept_.data(), kept_.size(), to);
        if (!any) continue;
        places_[ends[e]] = static_cast<u32>(child.ends.size());
        child.ends.push_back(ends[e]);
        to += kept_.size();
      }
      child.pairs.clear();
      for (const auto& [a, b] : node.pairs)
        if (a != v && b != v && is_wanted(child, a, b)) child.pairs.emplace_back(a, b);
      for (const u32 end : child.ends) places_[end] = NONE;
      if (child.pairs.empty()) return false;
      if (depth + 1 < search_.size_ && child.pairs.size() > MANY) {
        child.space.pack(*node.within, child.rows);
        child.within = &child.space;
        select_all(child);
      }
      return true;
    }

    // Each writes the rows that are in both sets, and returns whether there is one.
    static u64 meet(const u64* a, const u64* b, std::size_t words, u64* to) {
      u64 any = 0;
      for (std::size_t k = 0; k < words; ++k) any |= to[k] = a[k] & b[k];
      return any;
    }
    static u64 meet_at(const u64* a, const u64* b, const u32* of_a, std::size_t words, u64* to) {
      u64 any = 0;
      for (std::size_t k = 0; k < words; ++k) any |= to[k] = a[of_a[k]] & b[k];
      return any;
    }

    // Whether the pair has an edge in a row where the set are neighbours of one of them.
    bool is_wanted(const Node& node, u32 a, u32 b) const {
      const u32 first = places_[a], second = places_[b];
      if (first == NONE && second == NONE) return false;
      const std::size_t width = node.near_words.size();
      const u64* const near = node.near.data() + width * (first == NONE ? second : first);
      const u64* const also = node.near.data() + width * (second == NONE ? first : second);
      const u64* const edge = search_.edges_.data() + search_.pair(a, b) * search_.words_;
      const u32* const at = node.near_words.data();
      std::size_t k = 0;
      for (; k + 4 <= width; k += 4)  // fewer branches
        if (((near[k] | also[k]) & load(edge[at[k]])) |
            ((near[k + 1] | also[k + 1]) & load(edge[at[k + 1]])) |
            ((near[k + 2] | also[k + 2]) & load(edge[at[k + 2]])) |
            ((near[k + 3] | also[k + 3]) & load(edge[at[k + 3]])))
          return true;
      for (; k < width; ++k)
        if ((near[k] | also[k]) & load(edge[at[k]])) return true;
      return false;
    }

    static u64 load(const u64& word) {
      return std::atomic_ref<u64>(const_cast<u64&>(word)).load(std::memory_order_relaxed);
    }

    // Tests all pairs of a node.
    void test(std::size_t depth) {
      const Node& node = nodes_[depth];
      space_ = node.within;
      for (std::size_t e = 0; e < node.ends.size(); ++e)
        places_[node.ends[e]] = static_cast<u32>(e);
      flatten(node);
      std::ranges::fill(margins_, NONE);
      for (Side& side : sides_) side.known = false;
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

    void find_weight(Node& node) {
      flatten(node);
      u64 total = 0;
      for (std::size_t p = 0, k = 0; p < ends_of_planes_.size(); k = ends_of_planes_[p++])
        total += grow::common(flat_.data() + k, flat_.data() + k, ends_of_planes_[p] - k) << p;
      node.weight = static_cast<double>(total);
    }

    // Splits the rows of a node by the bits of their counts.
    void flatten(const Node& node) {
      const Selection& rows = node.rows;
      flat_.clear();
      flat_words_.clear();
      ends_of_planes_.clear();
      for (const Bits& plane : node.within->planes) {
        for (std::size_t k = 0; k < rows.words.size() && rows.words[k] < plane.size(); ++k)
          if (const u64 word = rows.mask[k] & plane[rows.words[k]]) {
            flat_.push_back(word);
            flat_words_.push_back(rows.words[k]);
          }
        ends_of_planes_.push_back(flat_.size());
      }
    }

    u32 count(const Bits& set, const u64* column) const {
      u64 total = 0;
      for (std::size_t p = 0, k = 0; p < ends_of_planes_.size(); k = ends_of_planes_[p++])
        total += common_at(set.data() + k, column, flat_words_.data() + k, ends_of_planes_[p] - k)
                 << p;
      return static_cast<u32>(total);
    }

    // Prepares the sets of rows in which a variable has each value.
    void intersect(u32 a) {
      const u32 card = rows_.cardinalities[a];
      with_value_.resize(std::max<std::size_t>(with_value_.size(), card));
      if (card > SMALL) return;
      for (u32 value = 0; value + 1 < card; ++value) {
        const u64* const column = space_->column(search_.first_[a] + value);
        Bits& set = with_value_[value];
        set.resize(flat_.size());
        for (std::size_t k = 0; k < flat_.size(); ++k) set[k] = flat_[k] & column[flat_words_[k]];
      }
    }

    u32 margin(u32 v, u32 value) {
      u32& known = margins_[search_.first_[v] + value];
      if (known == NONE) known = count(flat_, space_->column(search_.first_[v] + value));
      return known;
    }

    bool is_independent(const Node& node, u32 a, u32 b) {
      const u32 values = rows_.cardinalities[a], width = rows_.cardinalities[b];
      if (values == 2 && width == 2) return are_two_independent(node.weight, a, b);
      Sums sums{};
      if (u64{values} * width > SMALL) {
        Partition part;
        for (std::size_t k = 0; k < node.rows.words.size(); ++k)
          for (u64 word = node.rows.mask[k]; word; word &= word - 1)
            part.order.push_back(space_->rows[64 * node.rows.words[k] +
                                              static_cast<std::size_t>(std::countr_zero(word))]);
        part.ends.push_back(static_cast<u32>(part.order.size()));
        sums = Tester(rows_, a).tests(std::move(part), {&b, 1}).front();
      } else {
        std::array<double, SMALL> r, c, left;  // left: of each column, for its last row
        double squares = 0;
        for (u32 i = 0; i < values; ++i) r[i] = margin(a, i);
        for (u32 j = 0; j < width; ++j) left[j] = c[j] = margin(b, j);
        for (u32 i = 0; i < values; ++i) {
          double rest = r[i];
          for (u32 j = 0; j < width; ++j) {
            double n = rest;
            if (i + 1 == values)
              n = left[j];
            else if (j + 1 < width)
              n = count(with_value_[i], space_->column(search_.first_[b] + j));
            rest -= n;
            left[j] -= n;
            if (n > 0) squares += n * n / (r[i] * c[j]);
          }
        }
        add_table(sums, {r.data(), values}, {c.data(), width}, squares);
      }
      const auto& [statistic, mean, variance, largest, rows, cells] = sums;
      return cells > 0 && rows >= search_.min_count_ * cells &&
             decide(statistic, mean, variance, largest);
    }

    bool decide(double statistic, double mean, double variance, double largest) {
      if (variance <= 1e-12) return false;
      const double rate = mean / variance, shape = mean * rate;
      return above_(shape, std::max(statistic, 0.0) * rate) &&
             !above_(shape, std::max(largest, 0.0) * rate);
    }

    // What the test of two variables of two values needs of one.
    struct Side {
      bool known = false;
      double first = 0, fewer = 0, inverse = 0, v_less_w = 0, w = 0;
    };
    const Side& side(u32 variable, double n) {
      Side& side = sides_[variable];
      if (!side.known) {
        side.known = true;
        side.first = margin(variable, 0);
        side.fewer = std::min(side.first, n - side.first);
        if (side.fewer > 0) {
          side.inverse = 1 / (side.first * (n - side.first));
          side.w = (n * n * side.inverse - 4) / (n - 2);
          side.v_less_w = (n - 2) / (n - 1) - side.w;
        }
      }
      return side;
    }

    // The same test, simplified for tables of four cells.
    bool are_two_independent(double n, u32 a, u32 b) {
      const Side& r = side(a, n);
      const Side& c = side(b, n);
      if (n <= 3 || r.fewer <= 0 || c.fewer <= 0) return false;
      const double cell = count(with_value_[0], space_->column(search_.first_[b]));
      const double apart = n * cell - r.first * c.first;
      const double ratio = r.fewer < c.fewer ? r.fewer / c.fewer : c.fewer / r.fewer;
      return decide(n * apart * apart * r.inverse * c.inverse, n / (n - 1),
                    2 * n / (n - 3) * r.v_less_w * c.v_less_w + n * n / (n - 1) * r.w * c.w,
                    n * ratio);
    }

    ContextGraphs& search_;
    const Rows& rows_;
    const std::atomic<bool>& stop_;
    std::vector<Node> nodes_;
    std::vector<u32> set_;     // the variables of the current node
    std::vector<u32> places_;  // of each variable among the ends of a node
    TailAbove above_;
    struct Added {
      std::vector<u32> ends;
      Bits near, either;
    };
    std::vector<Added> added_;  // by one more variable, at each depth
    std::vector<u32> margins_, kept_, flat_words_;
    Bits flat_, near_column_;
    std::vector<std::size_t> ends_of_planes_;
    std::vector<Bits> with_value_;
    std::vector<Side> sides_;
    const Space* space_ = nullptr;  // of the node that is tested
  };

  const Rows& rows_;
  std::vector<u32> varying_;
  std::size_t words_, size_ = 0;
  double level_, min_count_;
  std::vector<std::size_t> pairs_, first_;
  std::vector<u64> deleted_;  // edges, by tests given each variable and others
  Space space_;               // all rows, those with large counts first
  Bits edges_, before_, ends_;
};

}  // namespace contextwise::count

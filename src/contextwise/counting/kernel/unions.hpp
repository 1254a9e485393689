// The three unions of one pair: of the first model, of the second, and of both.
//
// Few binary variables are counted by truth table, as they come; the others are simplified first,
// which may leave few, and go to the recursion. The union of both starts from what is left of each;
// where one swallows the other, or both are equal, one count serves.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "claims.hpp"
#include "classes.hpp"
#include "cover.hpp"
#include "cover_source.hpp"
#include "features.hpp"
#include "interval.hpp"
#include "simplify.hpp"
#include "tables.hpp"
#include "uncovered.hpp"

namespace contextwise {

// What is proven of the sizes of the three unions of a pair.
struct PairSizes {
  std::array<Interval<Natural>, 3> sizes;
  std::array<bool, 2> known{};  // which of the first two the caller had counted before
  bool visited = false;         // before that the sizes say nothing

  bool closed() const { return visited && std::ranges::all_of(sizes, &Interval<Natural>::closed); }
  // Begins with the bounds that hold without a look.
  void visit(const Natural& contexts) {
    if (visited) return;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (k == 2 || !known[k]) sizes[k].gap = contexts;
    visited = true;
  }
  // Takes over the size of the union of one model, which is then not counted again.
  void know(std::size_t model, const Natural& size) {
    sizes[model] = Interval<Natural>(size);
    known[model] = true;
  }
};

// Counts pairs one after the other; each thread has one, with scratch space that stays.
class UnionCounter {
 public:
  UnionCounter(const ValueClasses& classes, bool canonical, std::size_t memory)
      : classes_(classes), source_(classes), canonical_(canonical), memory_(memory) {}

  // What is open of a pair is closed, or better known. The budget holds for each union.
  void run(const Pair& pair, const std::array<PairClaims, 2>& claims, const Budget& budget,
           PairSizes& found) {
    begin(pair);
    run(claims, budget, found);
  }

  // The same in steps: which pair it is, and which other variables are no part of its contexts;
  void begin(const Pair& pair, std::span<const u32> without = {}) {
    own_.assign(without.begin(), without.end());
    if (!canonical_) own_.insert(own_.end(), {pair.first, pair.second});
  }
  // its three unions, that of the second model alone only where it is wanted or helps;
  void run(const std::array<PairClaims, 2>& claims, const Budget& budget, PairSizes& found,
           bool second_wanted = true) {
    source_.run(own_, claims, covers_);
    const auto& [a, b] = covers_;
    if (by_tables(a, b, found)) return;
    for (Cover& cover : covers_) simplifier_.run(cover, budget);
    if (by_tables(a, b, found)) return;
    visit(found);
    by_recursion(a, b, budget, found, second_wanted);
  }
  // or, of many models, the covers, over the same bits,
  void extract(std::span<const PairClaims> models, std::span<Cover> covers) {
    source_.run(own_, models, covers);
  }
  // each of which can be simplified,
  void simplify(Cover& cover, const Budget& budget) { simplifier_.run(cover, budget); }
  // and the three unions of two of them. Sizes that are known are not counted, and if one of them
  // is everything, so is the union.
  void run(const Cover& a, const Cover& b, const Budget& budget, PairSizes& found) {
    const Natural all = contexts();
    visit(found);
    for (std::size_t m = 0; m < 2; ++m)
      if (found.sizes[m].low == all) {
        measure(m ? a : b, all, budget, found.sizes[1 - m]);
        found.sizes[2] = Interval<Natural>(all);
        return;
      }
    if (!by_tables(a, b, found)) by_recursion(a, b, budget, found);
  }
  // The variables that are no part of a context.
  std::span<const u32> own() const { return own_; }
  // How many contexts the pair has.
  Natural contexts() { return with_others(Natural(1), {}); }
  // A number of assignments of some variables, in contexts of the pair.
  Natural with_others(Natural number, std::span<const u32> variables) {
    counted_.assign(variables.begin(), variables.end());
    counted_.insert(counted_.end(), own_.begin(), own_.end());
    classes_.multiply_by_others(number, counted_);
    return number;
  }

  // The nodes of the recursion that were visited so far.
  u64 nodes() const { return nodes_; }

 private:
  bool by_tables(const Cover& a, const Cover& b, PairSizes& found) {
    if (!tables_.fill(std::array{&a, &b})) return false;
    const u64 first = tables_.covered(0), second = tables_.covered(1);
    const u64 either = (first + second + tables_.differing(0, 1)) / 2;
    found.sizes = {of_tables(first), of_tables(second), of_tables(either)};
    found.visited = true;
    return true;
  }
  Interval<Natural> of_tables(u64 covered) {
    return Interval<Natural>(with_others(Natural(covered), tables_.names()));
  }

  void visit(PairSizes& found) { found.visit(contexts()); }

  void by_recursion(const Cover& first, const Cover& second, const Budget& budget, PairSizes& found,
                    bool second_wanted = true) {
    const Natural all = contexts();
    const auto [same_a, same_b] = simplifier_.join(first, second, both_, budget);
    auto& [a, b, either] = found.sizes;
    if (same_a && same_b && b.closed()) a = b;
    measure(first, all, budget, a);
    if (same_a && same_b)
      b = a;
    else if (second_wanted || (same_b && !same_a))
      measure(second, all, budget, b);
    if (same_a || same_b)
      either = same_a ? a : b;
    else if (a.low == all || (second_wanted && b.low == all))
      either = Interval<Natural>(all);
    else
      measure(both_, all, budget, either);
  }

  void measure(const Cover& cover, const Natural& contexts, Budget budget,
               Interval<Natural>& size) {
    if (size.closed()) return;
    const Cover small = compacted(cover);
    const Interval<Natural> left = uncovered(small, budget, memory_);
    nodes_ += budget.used;
    Interval<Natural> found(contexts), scaled(with_others(left.low, small.names));
    if (!left.closed()) scaled.gap = with_others(left.gap, small.names);
    found -= scaled;
    if (found.closed())
      size = std::move(found);
    else
      size.meet(found);
  }

  const ValueClasses& classes_;
  CoverSource source_;
  Simplifier simplifier_;
  bool canonical_;
  std::size_t memory_;
  u64 nodes_ = 0;
  std::vector<u32> own_;  // the variables that are no part of a context, as those of the pair
  std::array<Cover, 2> covers_;
  Cover both_;
  // Scratch space.
  CoverTables tables_;
  std::vector<u32> counted_;
};

}  // namespace contextwise

// Counts the three unions of one pair: of the first model, of the second, and of both.
//
// Few cubes of binary variables are counted by inclusion and exclusion, and covers of few binary
// variables by truth table. Other covers are simplified first, which may leave few cubes or
// variables, and then go to the recursion. The union of both starts from the two simplified covers.
// If one contains the other, it needs no count of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "classes.hpp"
#include "cover.hpp"
#include "cover_source.hpp"
#include "features.hpp"
#include "inclusion.hpp"
#include "interval.hpp"
#include "merged_features.hpp"
#include "simplify.hpp"
#include "steps.hpp"
#include "tables.hpp"
#include "uncovered.hpp"

namespace contextwise {

// Bounds on the sizes of the three unions of a pair.
struct PairSizes {
  std::array<Interval<Natural>, 3> sizes;
  bool visited = false;         // until then only known sizes have a meaning
  std::array<bool, 2> known{};  // whether the size of the first, of the second model is known

  bool closed() const { return visited && std::ranges::all_of(sizes, &Interval<Natural>::closed); }
  // Starts with the trivial bounds.
  void visit(const Natural& contexts) {
    if (visited) return;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (k == 2 || !known[k]) sizes[k].gap = contexts;
    visited = true;
  }
  // Sets the size of the union of one model, which is then not counted.
  void know(std::size_t model, const Natural& size) {
    sizes[model] = Interval<Natural>(size);
    known[model] = true;
  }
};

// Counts pairs one after the other. Each thread has its own counter and reuses its memory.
class UnionCounter {
 public:
  UnionCounter(const ValueClasses& classes, bool canonical, std::size_t memory)
      : classes_(classes), source_(classes), canonical_(canonical), memory_(memory) {}

  // Closes or tightens the open bounds of a pair. The budget applies to each union.
  void run(const Pair& pair, const std::array<PairFeatures, 2>& features, const Budget& budget,
           PairSizes& bounds) {
    begin(pair);
    run(features, budget, bounds);
  }

  // The same in steps. First, set the pair and other variables that are not part of its contexts.
  void begin(const Pair& pair, std::span<const u32> without = {}) {
    excluded_.assign(without.begin(), without.end());
    if (!canonical_) excluded_.insert(excluded_.end(), {pair.first, pair.second});
  }
  // Count its three unions. The union of the second model may be skipped.
  void run(const std::array<PairFeatures, 2>& features, const Budget& budget, PairSizes& bounds,
           bool second_wanted = true) {
    source_.run(excluded_, features, covers_);
    const auto& [a, b] = covers_;
    if (by_inclusion(a, b, bounds) || by_tables(a, b, bounds)) return;
    for (Cover& cover : covers_) simplifier_.run(cover, budget);
    if (by_tables(a, b, bounds)) return;
    visit(bounds);
    by_recursion(a, b, budget, bounds, second_wanted);
  }
  // For many models: make the covers, over the same bits.
  void extract(std::span<const PairFeatures> models, std::span<Cover> covers) {
    source_.run(excluded_, models, covers);
  }
  // Simplify one of them.
  void simplify(Cover& cover, const Budget& budget) { simplifier_.run(cover, budget); }
  // Count the three unions of two of them. Sizes that are known are not counted again. If a model
  // covers all contexts, so does the union of both.
  void run(const Cover& a, const Cover& b, const Budget& budget, PairSizes& bounds) {
    const Natural all = contexts();
    visit(bounds);
    for (std::size_t m = 0; m < 2; ++m)
      if (bounds.sizes[m].low == all) {
        measure(m ? a : b, all, budget, bounds.sizes[1 - m]);
        bounds.sizes[2] = Interval<Natural>(all);
        return;
      }
    if (!by_tables(a, b, bounds)) by_recursion(a, b, budget, bounds);
  }
  // Returns the variables that are not part of a context.
  std::span<const u32> excluded() const { return excluded_; }
  // Returns the number of contexts of the pair.
  Natural contexts() { return with_others(Natural(1), {}); }
  // Multiplies a number of assignments of some variables by those of the other variables.
  Natural with_others(Natural number, std::span<const u32> variables) {
    counted_.assign(variables.begin(), variables.end());
    counted_.insert(counted_.end(), excluded_.begin(), excluded_.end());
    classes_.multiply_by_others(number, counted_);
    return number;
  }

  // Returns the nodes that the recursion visited so far.
  u64 nodes() const { return nodes_; }

 private:
  bool by_tables(const Cover& a, const Cover& b, PairSizes& bounds) {
    if (!uses(Step::TABLES) || !tables_.fill(std::array{&a, &b})) return false;
    const u64 first = tables_.covered(0), second = tables_.covered(1);
    const u64 either = (first + second + tables_.differing(0, 1)) / 2;
    bounds.sizes = {of_tables(first), of_tables(second), of_tables(either)};
    bounds.visited = true;
    return true;
  }
  Interval<Natural> of_tables(u64 covered) {
    return Interval<Natural>(with_others(Natural(covered), tables_.names()));
  }

  // Counts all three unions if there are few cubes. Up to TINY_TABLE variables a table is faster.
  bool by_inclusion(const Cover& a, const Cover& b, PairSizes& bounds) {
    if (a.variables() <= TINY_TABLE || a.size() + b.size() > FEW_CUBES || !suits_inclusion(a))
      return false;
    bounds.sizes = {by_inclusion({&a}), by_inclusion({&b}), by_inclusion({&a, &b})};
    bounds.visited = true;
    return true;
  }
  Interval<Natural> by_inclusion(std::initializer_list<const Cover*> covers) {
    few_.clear();
    for (const Cover* cover : covers)
      for (std::size_t c = 0; c < cover->size(); ++c) few_.add({cover->cube(c), cover->words()});
    const Cover& any = **covers.begin();
    const auto variables = static_cast<unsigned>(any.variables());
    const u64 covered =
        (u64{1} << variables) - few_.uncovered(static_cast<int>(variables)).words()[0];
    return Interval<Natural>(with_others(Natural(covered), any.names));
  }
  // Tests whether the numbers and the cubes of FewCubes are wide enough.
  static bool suits_inclusion(const Cover& cover) {
    return uses(Step::INCLUSION) && cover.variables() < 64 && cover.is_binary();
  }

  void visit(PairSizes& bounds) { bounds.visit(contexts()); }

  void by_recursion(const Cover& first, const Cover& second, const Budget& budget,
                    PairSizes& bounds, bool second_wanted = true) {
    const Natural all = contexts();
    const auto [same_a, same_b] = simplifier_.join(first, second, both_, budget);
    auto& [a, b, either] = bounds.sizes;
    if (same_a && same_b && b.closed()) a = b;
    measure(first, all, budget, a);
    if (uses(Step::SAME_UNION) && same_a && same_b)
      b = a;
    else if (second_wanted || (same_b && !same_a))
      measure(second, all, budget, b);
    if (uses(Step::SAME_UNION) && (same_a || same_b))
      either = same_a ? a : b;
    else if (a.low == all || (second_wanted && b.low == all))
      either = Interval<Natural>(all);
    else
      measure(both_, all, budget, either);
  }

  void measure(const Cover& cover, const Natural& contexts, Budget budget,
               Interval<Natural>& size) {
    if (size.closed()) return;
    if (cover.size() <= FEW_CUBES && suits_inclusion(cover)) {
      size = by_inclusion({&cover});
      return;
    }
    const Cover small = compacted(cover);
    const Interval<Natural> left = uncovered(small, budget, memory_);
    nodes_ += budget.used;
    Interval<Natural> covered(contexts), scaled(with_others(left.low, small.names));
    if (!left.closed()) scaled.gap = with_others(left.gap, small.names);
    covered -= scaled;
    if (covered.closed())
      size = std::move(covered);
    else
      size.meet(covered);
  }

  const ValueClasses& classes_;
  CoverSource source_;
  Simplifier simplifier_;
  bool canonical_;
  std::size_t memory_;
  u64 nodes_ = 0;
  std::vector<u32> excluded_;  // variables that are not part of a context, such as the pair
  std::array<Cover, 2> covers_;
  Cover both_;
  // Scratch space.
  CoverTables tables_;
  FewCubes<Wide<1>, 2> few_;
  std::vector<u32> counted_;
};

}  // namespace contextwise

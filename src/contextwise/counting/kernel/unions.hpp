// The three unions of one pair: of the first model, of the second, and of both.
//
// Few binary variables are counted by truth table, as they come; the others are simplified first,
// which may leave few, and go to the recursion. The union of both starts from what is left of each;
// where one swallows the other, or both are equal, one count serves.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "budget.hpp"
#include "claims.hpp"
#include "classes.hpp"
#include "cover.hpp"
#include "cover_source.hpp"
#include "features.hpp"
#include "interval.hpp"
#include "simplify.hpp"
#include "truth.hpp"
#include "uncovered.hpp"

namespace contextwise {

// What is proven of the sizes of the three unions of a pair.
struct PairSizes {
  std::array<Interval<Natural>, 3> sizes;
  bool visited = false;  // before that the sizes say nothing

  bool closed() const { return visited && std::ranges::all_of(sizes, &Interval<Natural>::closed); }
  // Begins with the bounds that hold without a look.
  void visit(const Natural& contexts) {
    if (visited) return;
    for (Interval<Natural>& size : sizes) size.gap = contexts;
    visited = true;
  }
};

// Counts pairs one after the other; each thread has one, with scratch space that stays.
class UnionCounter {
 public:
  UnionCounter(const ValueClasses& classes, const Claims& a, const Claims& b, bool canonical,
               std::size_t memory)
      : classes_(classes),
        source_(classes, a, b, canonical),
        canonical_(canonical),
        memory_(memory) {}

  // What is open of a pair is closed, or better known. The budget holds for each union. Where the
  // size of the first union is known already, it need not be counted.
  void run(const Pair& pair, const PairClaims& claims, const Budget& budget, PairSizes& found,
           const Natural* first = nullptr) {
    own_.clear();
    if (!canonical_) own_.assign({pair.first, pair.second});
    source_.run(pair, claims, covers_);
    if (by_tables(found)) return;
    for (Cover& cover : covers_) simplifier_.run(cover, budget);
    if (!by_tables(found)) by_recursion(budget, found, first);
  }

  // The nodes of the recursion that were visited so far.
  u64 nodes() const { return nodes_; }

 private:
  // Each table has a bit for every assignment of the tested variables, set where some cube allows
  // it; so the table of both models together is the `or` of the two, word by word.
  bool by_tables(PairSizes& found) {
    if (!covers_[0].is_binary() || !find_tested()) return false;
    const int variables = static_cast<int>(names_.size());
    std::array<u64, 3> covered{};
    for (int m = 0; m < 2; ++m) {
      small_.clear();
      for (std::size_t c = 0; c < covers_[m].size(); ++c)
        small_.push_back(small_cube({covers_[m].cube(c), covers_[m].words()},
                                    [&](std::size_t v) { return places_[v]; }));
      fill_table(small_.data(), small_.size(), variables, tables_[m]);
      covered[m] = covered_in(tables_[m], variables);
    }
    for (std::size_t k = 0; k < tables_[0].size(); ++k) tables_[0][k] |= tables_[1][k];
    covered[2] = covered_in(tables_[0], variables);
    for (int k = 0; k < 3; ++k)
      found.sizes[k] = Interval<Natural>(with_others(Natural(covered[k])));
    found.visited = true;
    return true;
  }

  // The variables that some cube tests, if they are few: their names, and where the table has them.
  // A bit of `tested_` is a class that some cube forbids; the bits 2v and 2v + 1 stand side by
  // side, so a variable of which both are set comes twice in a row and counts once.
  bool find_tested() {
    const std::size_t words = covers_[0].words();
    tested_.assign(words, 0);
    for (const Cover& cover : covers_)
      for (std::size_t at = 0; at < cover.forbidden.size();)
        for (std::size_t k = 0; k < words; ++k) tested_[k] |= cover.forbidden[at++];
    names_.clear();
    places_.resize(covers_[0].variables());
    for (std::size_t k = 0; k < words; ++k)
      for (u64 bits = tested_[k]; bits; bits &= bits - 1) {
        const std::size_t v = (64 * k + static_cast<std::size_t>(std::countr_zero(bits))) / 2;
        if (!names_.empty() && names_.back() == covers_[0].names[v]) continue;
        if (names_.size() == TRUTH_VARIABLES) return false;
        places_[v] = static_cast<u32>(names_.size());
        names_.push_back(covers_[0].names[v]);
      }
    return true;
  }

  void by_recursion(const Budget& budget, PairSizes& found, const Natural* first) {
    const Natural contexts = all_contexts();
    found.visit(contexts);
    if (first) found.sizes[0] = Interval<Natural>(*first);
    const auto [same_a, same_b] = simplifier_.join(covers_, both_, budget);
    auto& [a, b, either] = found.sizes;
    measure(covers_[0], contexts, budget, a);
    if (same_a && same_b)
      b = a;
    else
      measure(covers_[1], contexts, budget, b);
    if (same_a || same_b)
      either = same_a ? a : b;
    else
      measure(both_, contexts, budget, either);
  }

  void measure(const Cover& cover, const Natural& contexts, Budget budget,
               Interval<Natural>& size) {
    if (size.closed()) return;
    const Cover small = compacted(cover);
    const Interval<Natural> left = uncovered(small, budget, memory_);
    nodes_ += budget.used;
    names_ = small.names;
    Interval<Natural> found(contexts), scaled(with_others(left.low));
    if (!left.closed()) scaled.gap = with_others(left.gap);
    found -= scaled;
    if (found.closed())
      size = std::move(found);
    else
      size.meet(found);
  }

  Natural all_contexts() {
    names_.clear();
    return with_others(Natural(1));
  }

  // A number of assignments of the variables names_, in contexts.
  Natural with_others(Natural number) {
    counted_.assign(names_.begin(), names_.end());
    counted_.insert(counted_.end(), own_.begin(), own_.end());
    classes_.multiply_by_others(number, counted_);
    return number;
  }

  const ValueClasses& classes_;
  CoverSource source_;
  Simplifier simplifier_;
  bool canonical_;
  std::size_t memory_;
  u64 nodes_ = 0;
  std::vector<u32> own_;  // the variables of the pair, where they are no part of a context
  std::array<Cover, 2> covers_;
  Cover both_;
  // Scratch space.
  std::vector<u64> tested_;
  std::vector<u32> names_, counted_, places_;
  std::vector<SmallCube> small_;
  std::array<std::vector<u64>, 2> tables_;
};

}  // namespace contextwise

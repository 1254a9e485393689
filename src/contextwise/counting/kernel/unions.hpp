// The three unions of one pair: of the first model, of the second, and of both.
//
// Few binary variables are counted by truth table, as they come; the others are simplified first,
// which may leave few, and go to the recursion. The union of both starts from what is left of each;
// where one swallows the other, or both are equal, one count serves.
#pragma once

#include "extract.hpp"
#include "simplify.hpp"
#include "solve.hpp"

namespace contextwise {

// What is proven of the size of one union.
struct Size {
  Natural low;
  Natural high;  // where it is open
  bool closed = false;

  void close(Natural exact) {
    low = std::move(exact);
    closed = true;
  }
  void meet(const Bounds<Natural>& found) {
    if (low < found.low) low = found.low;
    if (found.high < high) high = found.high;
    closed = low == high;
  }
};

struct Outcome {
  std::array<Size, 3> sizes;
  bool visited = false;  // without a visit there are no bounds of what is open

  bool closed() const {
    return std::all_of(sizes.begin(), sizes.end(), [](const Size& size) { return size.closed; });
  }
  // Begins with the bounds that hold without a look.
  void visit(const Natural& contexts) {
    if (visited) return;
    for (Size& size : sizes) size.high = contexts;
    visited = true;
  }
};

// Counts pairs one after the other; each thread has one, with scratch space that stays.
class UnionCounter {
 public:
  UnionCounter(const Coding& coding, const IndexedClaims& a, const IndexedClaims& b, bool canonical,
               std::size_t memory)
      : coding_(coding), extractor_(coding, a, b, canonical), canonical_(canonical), memory_(memory) {}

  // What is open of an outcome is closed, or better known.
  void run(u32 number, const Pair& pair, const Budget& budget, Outcome& outcome) {
    own_.clear();
    if (!canonical_) own_.assign({pair.first, pair.second});
    extractor_.run(number, pair, covers_);
    if (by_tables(outcome)) return;
    for (Cover& cover : covers_) simplifier_.run(cover);
    if (!by_tables(outcome)) by_recursion(budget, outcome);
  }

 private:
  bool by_tables(Outcome& outcome) {
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
    for (int k = 0; k < 3; ++k) outcome.sizes[k].close(with_others(Natural(covered[k])));
    return true;
  }

  // The variables that some cube tests, if they are few.
  bool find_tested() {
    const std::size_t words = covers_[0].words();
    tested_.assign(words, 0);
    for (const Cover& cover : covers_)
      for (std::size_t at = 0; at < cover.cubes.size();)
        for (std::size_t k = 0; k < words; ++k) tested_[k] |= cover.cubes[at++];
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

  void by_recursion(const Budget& budget, Outcome& outcome) {
    const Natural contexts = all_contexts();
    outcome.visit(contexts);
    const auto [same_a, same_b] = simplifier_.join(covers_, both_);
    measure(covers_[0], contexts, budget, outcome, 0);
    if (same_a && same_b)
      outcome.sizes[1] = outcome.sizes[0];
    else
      measure(covers_[1], contexts, budget, outcome, 1);
    if (same_a || same_b)
      outcome.sizes[2] = outcome.sizes[same_a ? 0 : 1];
    else
      measure(both_, contexts, budget, outcome, 2);
  }

  void measure(const Cover& cover, const Natural& contexts, Budget budget, Outcome& outcome,
               int which) {
    Size& size = outcome.sizes[which];
    if (size.closed) return;
    const Cover small = compacted(cover);
    const Bounds<Natural> uncovered = solve(small, budget, memory_);
    names_ = small.names;
    Bounds<Natural> found{contexts, contexts};
    found.low -= with_others(uncovered.high);
    found.high -= with_others(uncovered.low);
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
    coding_.multiply_by_others(number, counted_);
    return number;
  }

  const Coding& coding_;
  Extractor extractor_;
  Simplifier simplifier_;
  bool canonical_;
  std::size_t memory_;
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

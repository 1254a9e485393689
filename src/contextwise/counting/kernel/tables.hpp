// Truth tables of covers over the same bits, for covers that test few binary variables.
//
// A table has one bit per assignment of the tested variables, set if some cube allows it. So the
// union of two covers is the OR of their tables, and their difference is the XOR.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "cover.hpp"
#include "truth.hpp"

namespace contextwise {

class CoverTables {
 public:
  // Returns false if the tables would be too large.
  bool fill(std::span<const Cover* const> covers) {
    if (!covers[0]->is_binary() || !find_tested(covers)) return false;
    if (tables_.size() < covers.size()) tables_.resize(covers.size());
    for (std::size_t k = 0; k < covers.size(); ++k) {
      small_.clear();
      for (std::size_t c = 0; c < covers[k]->size(); ++c)
        small_.push_back(small_cube({covers[k]->cube(c), covers[k]->words()},
                                    [&](std::size_t v) { return places_[v]; }));
      fill_table(small_.data(), small_.size(), variables(), tables_[k]);
    }
    return true;
  }

  // Returns the words of a table. Covers with equal unions have equal words.
  std::vector<u64>& words(std::size_t k) { return tables_[k]; }
  // Returns the tested variables.
  std::span<const u32> names() const { return names_; }
  // Counts the assignments that a cover allows.
  u64 covered(std::size_t a) const { return covered_in(tables_[a], variables()); }
  // Counts the assignments that exactly one of two covers allows.
  u64 differing(std::size_t a, std::size_t b) const {
    return differing_in(tables_[a].data(), tables_[b].data(), variables());
  }

 private:
  int variables() const { return static_cast<int>(names_.size()); }

  // Finds the variables that some cube tests, and gives each a place in the table. Returns false if
  // there are too many. A bit of `tested_` is a class that some cube forbids. If both bits of a
  // variable are set, it comes up twice in a row and is taken once.
  bool find_tested(std::span<const Cover* const> covers) {
    const Cover& any = *covers[0];
    const std::size_t words = any.words();
    tested_.assign(words, 0);
    for (const Cover* cover : covers)
      for (std::size_t at = 0; at < cover->forbidden.size();)
        for (std::size_t k = 0; k < words; ++k) tested_[k] |= cover->forbidden[at++];
    names_.clear();
    places_.resize(any.variables());
    for (std::size_t k = 0; k < words; ++k)
      for (u64 bits = tested_[k]; bits; bits &= bits - 1) {
        const std::size_t v = (64 * k + static_cast<std::size_t>(std::countr_zero(bits))) / 2;
        if (!names_.empty() && names_.back() == any.names[v]) continue;
        if (names_.size() == TRUTH_VARIABLES) return false;
        places_[v] = static_cast<u32>(names_.size());
        names_.push_back(any.names[v]);
      }
    return true;
  }

  std::vector<u64> tested_;
  std::vector<u32> names_, places_;
  std::vector<SmallCube> small_;
  std::vector<std::vector<u64>> tables_;
};

}  // namespace contextwise

// The truth tables of some covers over the same bits, where few binary variables are tested.
//
// Each table has a bit for every assignment of the tested variables, set where some cube allows it;
// so the union of two covers is the `or` of their tables, and where they differ the exclusive one.
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
  // False if they do not fit.
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

  // The words of a table; two covers have the same ones if their unions are equal.
  std::vector<u64>& words(std::size_t k) { return tables_[k]; }
  // The tested variables.
  std::span<const u32> names() const { return names_; }
  // How many of their assignments a cover has,
  u64 covered(std::size_t a) const { return covered_in(tables_[a], variables()); }
  // and how many one of two has, but not the other.
  u64 differing(std::size_t a, std::size_t b) const {
    return differing_in(tables_[a].data(), tables_[b].data(), variables());
  }

 private:
  int variables() const { return static_cast<int>(names_.size()); }

  // The variables that some cube tests, if they are few: their names, and where the table has them.
  // A bit of `tested_` is a class that some cube forbids; the bits 2v and 2v + 1 stand side by
  // side, so a variable of which both are set comes twice in a row and counts once.
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

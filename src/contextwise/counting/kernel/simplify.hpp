// Replaces the cubes of a cover by fewer and wider ones with the same union.
//
// Cubes inside others are removed, and cubes are widened: if D lies inside C except in variable x,
// the union does not change when D also allows the values of x that C allows. (In terms of clauses:
// subsumption and self-subsuming resolution.) This removes splits of a decision tree whose two
// sides are alike. All pairs of cubes are compared.
//
// All steps work on the bits that cubes forbid. D lies inside C if C forbids no bit that D allows.
// D lies inside C except in x if all bits that C forbids and D allows belong to x.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "budget.hpp"
#include "cover.hpp"
#include "steps.hpp"

namespace contextwise {

class Simplifier {
 public:
  // Each step keeps the union, so the work can stop after any step when the time is over.
  void run(Cover& cover, const Budget& budget) {
    begin(cover);
    finish(cover, budget);
  }

  // Makes the union of two simplified covers over the same bits. Returns whether it has exactly the
  // cubes of the first cover, and whether exactly those of the second.
  std::array<bool, 2> join(const Cover& a, const Cover& b, Cover& both, const Budget& budget) {
    both = a;
    both.forbidden.insert(both.forbidden.end(), b.forbidden.begin(), b.forbidden.end());
    begin(both);
    std::fill_n(origins_.begin(), a.size(), 1);
    std::fill(origins_.begin() + static_cast<std::ptrdiff_t>(a.size()), origins_.end(), 2);
    finish(both, budget);
    std::array<bool, 2> same{};
    for (u32 m = 0; m < 2; ++m)
      same[m] =
          both.size() == (m ? b : a).size() &&
          std::all_of(origins_.begin(), origins_.end(), [&](char from) { return from >> m & 1; });
    return same;
  }

 private:
  void begin(const Cover& cover) {
    words_ = cover.words();
    binary_ = cover.is_binary();
    origins_.assign(cover.size(), 0);
    alive_.assign(cover.size(), 1);
  }

  void finish(Cover& cover, const Budget& budget) {
    if (uses(Step::ABSORPTION)) compare_all(cover, budget);
    keep_alive(cover);
  }

  void compare_all(Cover& cover, const Budget& budget) {
    sort_by_size(cover);
    if (!binary_) find_fields(cover);
    queued_.assign(cover.size(), 1);
    queue_.resize(cover.size());
    std::iota(queue_.begin(), queue_.end(), u32{0});
    std::size_t since_look = 0;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const u32 c = queue_[at];
      queued_[c] = 0;
      if (!alive_[c]) continue;
      compare(cover, c);
      since_look += cover.forbidden.size();
      if (since_look < BETWEEN_LOOKS) continue;
      since_look = 0;
      if (budget.is_over()) return;
    }
  }

  // Sorts the cubes by length with a counting sort. Short cubes come first because they absorb
  // most.
  void sort_by_size(Cover& cover) {
    sizes_.resize(cover.size());
    counts_.assign(cover.bits() + 2, 0);
    for (std::size_t c = 0; c < cover.size(); ++c) {
      sizes_[c] = 0;
      for (std::size_t k = 0; k < words_; ++k)
        sizes_[c] += static_cast<u32>(ones(cover.cube(c)[k]));
      ++counts_[sizes_[c] + 1];
    }
    std::partial_sum(counts_.begin(), counts_.end(), counts_.begin());
    sorted_.resize(cover.forbidden.size());
    moved_.resize(cover.size());
    for (std::size_t c = 0; c < cover.size(); ++c) {
      const u32 to = counts_[sizes_[c]]++;
      std::copy_n(cover.cube(c), words_, sorted_.data() + to * words_);
      moved_[to] = origins_[c];
    }
    cover.forbidden.swap(sorted_);
    origins_.swap(moved_);
  }

  void find_fields(const Cover& cover) {
    fields_.assign(cover.variables() * words_, 0);
    variable_of_.resize(cover.bits());
    for (u32 v = 0; v < cover.variables(); ++v)
      for (u32 bit = cover.start[v]; bit < cover.start[v + 1]; ++bit) {
        variable_of_[bit] = v;
        fields_[v * words_ + bit / 64] |= u64{1} << bit % 64;
      }
  }

  void compare(Cover& cover, u32 c) {
    if (!binary_) return compare_any(cover, c);
    switch (words_) {
      case 1: return compare_binary<1>(cover, c);
      case 2: return compare_binary<2>(cover, c);
      case 3: return compare_binary<3>(cover, c);
      case 4: return compare_binary<4>(cover, c);
      default: return compare_binary<0>(cover, c);
    }
  }

  // Compares cube C with every other cube D by the bits that C forbids and D allows. If there is no
  // such bit, D lies inside C and is removed. If there is one bit, D drops its test of that
  // variable, because C covers the other side. With two bits or more nothing follows.
  //
  // The loop over words has no branch. `any` has these bits if they are in one word, and `more` is
  // not 0 if there are two bits, in one word (x & (x - 1) drops the lowest bit) or in two.
  template <std::size_t W>
  void compare_binary(Cover& cover, u32 c) {
    const std::size_t words = W ? W : words_;
    const u64* const mine = cover.cube(c);
    u64* other = cover.forbidden.data();
    used_.clear();  // the words in which C forbids something, if W is not fixed
    for (std::size_t k = 0; W == 0 && k < words; ++k)
      if (mine[k]) used_.push_back(k);
    const std::size_t looked_at = W ? W : used_.size();
    for (u32 d = 0; d < alive_.size(); ++d, other += words) {
      u64 any = 0, more = 0;
      std::size_t word = 0;
      for (std::size_t i = 0; i < looked_at; ++i) {
        const std::size_t k = W ? i : used_[i];
        const u64 beyond = mine[k] & ~other[k];
        more |= (beyond & (beyond - 1)) | (any && beyond);
        any |= beyond;
        if (beyond) word = k;
      }
      if (more || !alive_[d] || d == c) continue;
      if (!any) {
        absorb(cover, c, d);
        continue;
      }
      const u64 twin = any & EVEN ? any << 1 : any >> 1;
      if (!uses(Step::WIDENING) || !(other[word] & twin)) continue;
      other[word] &= ~twin;
      changed(d);
    }
  }

  // The same for variables with any number of classes. If the bits that C forbids and D allows all
  // belong to one variable, D forbids of that variable only the bits that C forbids too.
  void compare_any(Cover& cover, u32 c) {
    const u64* const mine = cover.cube(c);
    for (u32 d = 0; d < alive_.size(); ++d) {
      if (!alive_[d] || d == c) continue;
      u64* const other = cover.cube(d);
      std::size_t word = 0;
      while (word < words_ && !(mine[word] & ~other[word])) ++word;
      if (word == words_) {
        absorb(cover, c, d);
        continue;
      }
      const u64 beyond = mine[word] & ~other[word];
      const u32 variable = variable_of_[64 * word + static_cast<u32>(std::countr_zero(beyond))];
      const u64* const field = fields_.data() + variable * words_;
      u64 outside = 0;
      for (std::size_t k = word; k < words_; ++k) outside |= mine[k] & ~other[k] & ~field[k];
      if (!uses(Step::WIDENING) || outside) continue;
      u64 gone = 0;
      for (std::size_t k = 0; k < words_; ++k) {
        gone |= other[k] & field[k] & ~mine[k];
        other[k] &= ~(field[k] & ~mine[k]);
      }
      if (gone) changed(d);
    }
  }

  void absorb(const Cover& cover, u32 c, u32 d) {
    alive_[d] = 0;
    if (std::equal(cover.cube(c), cover.cube(c) + words_, cover.cube(d)))
      origins_[c] |= origins_[d];
  }

  void changed(u32 d) {
    origins_[d] = 0;
    if (queued_[d]) return;
    queued_[d] = 1;
    queue_.push_back(d);
  }

  void keep_alive(Cover& cover) {
    std::size_t kept = 0;
    for (std::size_t c = 0; c < alive_.size(); ++c) {
      if (!alive_[c]) continue;
      std::copy_n(cover.cube(c), words_, cover.forbidden.data() + kept * words_);
      origins_[kept++] = origins_[c];
    }
    cover.forbidden.resize(kept * words_);
    origins_.resize(kept);
    alive_.assign(kept, 1);
  }

  // Words compared between two looks at the clock: about a millisecond.
  static constexpr std::size_t BETWEEN_LOOKS = 1'000'000;

  std::size_t words_ = 1;
  bool binary_ = false;
  std::vector<char> alive_, origins_;  // origins_: which of two covers had the cube, as two bits
  std::vector<char> queued_, moved_;
  std::vector<u32> queue_, sizes_, counts_, variable_of_;
  std::vector<std::size_t> used_;
  std::vector<u64> sorted_, fields_;  // fields_: the bits of each variable
};

}  // namespace contextwise

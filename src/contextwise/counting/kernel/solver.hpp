// The recursion: how many contexts of a cover lie in no cube.
//
// The same steps as branch.py, which explains them: unit rule, components, memory, branching. What
// is different is the bookkeeping. A subproblem is a list of indices into the cubes of the cover and
// one bit set, `open`: the classes still possible of the variables not yet decided. A cube of
// the list is what it forbids among the open bits; nothing is copied but indices. A few binary
// variables are counted by truth table.
//
// Work can stop early: past the budget every subproblem answers with bounds that are cheap to prove,
// and sums and products of bounds are bounds of the whole.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

#include "cover.hpp"
#include "memory.hpp"
#include "truth.hpp"

namespace contextwise {

using Clock = std::chrono::steady_clock;

// When to stop: after so many nodes, at a time, or when someone says so.
struct Budget {
  u64 nodes = std::numeric_limits<u64>::max();
  Clock::time_point deadline = Clock::time_point::max();
  const std::atomic<bool>* stop = nullptr;
  u64 used = 0;
  bool spent = false;

  // One more node; false if there is no budget for it.
  bool enter() {
    if (spent || used >= nodes) {
      spent = true;
      return false;
    }
    if ((++used & 255) == 0)
      spent = (stop && stop->load(std::memory_order_relaxed)) || Clock::now() >= deadline;
    return true;
  }
};

template <class N, int W>
class Solver {
  using Set = Bits<W>;

 public:
  Solver(const Cover& cover, Budget& budget, std::size_t memory_bytes)
      : budget_(budget), memory_(memory_bytes), words_(cover.words()) {
    const std::size_t variables = cover.variables();
    fields_.reserve(variables);
    for (u32 v = 0; v < variables; ++v) {
      Set field(words_);
      for (u32 bit = cover.start[v]; bit < cover.start[v + 1]; ++bit) {
        field.set(bit);
        variable_of_.push_back(v);
      }
      binary_ &= cover.start[v + 1] - cover.start[v] == 2;
      fields_.push_back(field);
    }
    binary_ &= cover.weights.empty();
    for (std::size_t bit = 0; bit < cover.bits(); ++bit)
      weights_.push_back(number_from<N>(cover.weight(bit)));
    for (std::size_t c = 0; c < cover.size(); ++c) cubes_.emplace_back(cover.cube(c), words_);
    scores_.resize(variables);
    places_.resize(variables);
    for (int k = 0; k < 64; ++k) powers_[k] = std::pow(BASE, -k);
  }

  Bounds<N> run() {
    Set open(words_);
    for (const Set& field : fields_) open |= field;
    list_.resize(cubes_.size());
    std::iota(list_.begin(), list_.end(), u32{0});
    return uncovered(0, open);
  }

 private:
  static constexpr double BASE = 1.1;

  // The subproblem whose cubes are list_[first..]; the list is ours to shorten, and gone after.
  Bounds<N> uncovered(std::size_t first, Set open) {
    N factor(1);
    if (!propagate(first, open, factor)) {
      list_.resize(first);
      return Bounds<N>(N(0));
    }
    const std::size_t last = list_.size();
    const std::size_t parts = split(first, open, factor);
    Bounds<N> result{factor};
    // Each part begins with its own header in starts_; see split().
    for (std::size_t p = 0; p < parts && !result.is_zero(); ++p) {
      const Part part = parts_[parts_.size() - parts + p];
      result *= component(part);
    }
    parts_.resize(parts_.size() - parts);
    (void)last;
    list_.resize(first);
    return result;
  }

  struct Part {
    std::size_t first, last;
    Set open;
  };

  // The unit rule until nothing changes; false if some cube is everything.
  bool propagate(std::size_t first, Set& open, N& factor) {
    Set fixed(words_);
    bool partial = false;  // whether a variable of more than one class left was narrowed
    Set narrowed(words_);
    for (bool again = true; again;) {
      again = false;
      std::size_t kept = first;
      for (std::size_t at = first; at < list_.size(); ++at) {
        const u32 c = list_[at];
        const Set& forbids = cubes_[c];
        if (forbids.meets(fixed)) continue;
        const Set rest = forbids & open;
        if (rest.none()) return false;
        if (partial && excluded(rest, open, narrowed)) continue;
        const u32 variable = variable_of_[rest.lowest()];
        const Set& field = fields_[variable];
        if (!rest.inside(field)) {
          list_[kept++] = c;
          continue;
        }
        again = true;
        open -= field;
        if (rest.count() == 1) {
          fixed |= rest;
          if (!binary_) factor *= weights_[rest.lowest()];
        } else {
          open |= rest;
          narrowed |= rest;
          partial = true;
        }
      }
      list_.resize(kept);
    }
    return true;
  }

  // Whether a narrowed variable has only classes left that the cube forbids.
  bool excluded(const Set& rest, const Set& open, const Set& narrowed) const {
    Set look = rest & narrowed;
    while (!look.none()) {
      const Set& field = fields_[variable_of_[look.lowest()]];
      if ((open & field).inside(rest)) return true;
      look -= field;
    }
    return false;
  }

  Set support(const Set& rest) const {
    Set result(words_);
    for_each_bit(rest, [&](std::size_t bit) { result |= fields_[variable_of_[bit]]; });
    return result;
  }

  // Parts that share no variable, pushed on parts_; free variables go into the factor.
  std::size_t split(std::size_t first, const Set& open, N& factor) {
    const std::size_t last = list_.size();
    std::vector<std::pair<Set, std::vector<u32>>> groups;
    for (std::size_t at = first; at < last; ++at) {
      Set mine = support(cubes_[list_[at]] & open);
      std::size_t home = groups.size();
      for (std::size_t g = 0; g < groups.size();) {
        if (!groups[g].first.meets(mine)) {
          ++g;
        } else if (home == groups.size()) {
          groups[g].first |= mine;
          mine = groups[g].first;
          home = g++;
        } else {
          groups[home].first |= groups[g].first;
          mine = groups[home].first;
          groups[home].second.insert(groups[home].second.end(), groups[g].second.begin(),
                                     groups[g].second.end());
          groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
        }
      }
      if (home == groups.size()) groups.push_back({mine, {}});
      groups[home].second.push_back(list_[at]);
    }
    Set used(words_);
    list_.resize(first);
    for (auto& [fields, members] : groups) {
      std::sort(members.begin(), members.end());
      parts_.push_back({list_.size(), list_.size() + members.size(), open & fields});
      list_.insert(list_.end(), members.begin(), members.end());
      used |= fields;
    }
    multiply_by_all(open - used, factor);
    return groups.size();
  }

  // Times the number of assignments of these variables.
  void multiply_by_all(Set open, N& factor) const {
    if (binary_) {
      factor <<= static_cast<unsigned>(open.count() / 2);
      return;
    }
    while (!open.none()) {
      const Set field = open & fields_[variable_of_[open.lowest()]];
      factor *= weight(field);
      open -= field;
    }
  }

  N weight(const Set& bits) const {
    N sum;
    for_each_bit(bits, [&](std::size_t bit) { sum += weights_[bit]; });
    return sum;
  }

  // One connected part.
  Bounds<N> component(const Part& part) {
    if (binary_ && part.open.count() <= 2 * TRUTH_VARIABLES) return Bounds<N>(N(by_table(part)));
    if (!budget_.enter()) return proven(part);
    std::vector<u64> key = key_of(part);
    if (const N* known = memory_.find(key)) return Bounds<N>(*known);
    const Bounds<N> result = branched(part);
    if (result.closed()) memory_.store(key, result.low);
    return result;
  }

  std::vector<u64> key_of(const Part& part) const {
    std::vector<u64> key(part.open.words.begin(), part.open.words.end());
    u64 packed = 0;
    for (std::size_t at = part.first; at < part.last; ++at) {
      packed = packed << 32 | (list_[at] + 1);
      if ((at - part.first) & 1) {
        key.push_back(packed);
        packed = 0;
      }
    }
    if (packed) key.push_back(packed);
    return key;
  }

  u64 by_table(const Part& part) {
    u32 count = 0;
    for_each_bit(part.open, [&](std::size_t bit) {
      if (bit % 2 == 0) places_[bit / 2] = count++;
    });
    small_.clear();
    for (std::size_t at = part.first; at < part.last; ++at) {
      SmallCube cube{0, 0};
      for_each_bit(cubes_[list_[at]] & part.open, [&](std::size_t bit) {
        cube.tests |= u32{1} << places_[bit / 2];
        if (bit % 2 == 0) cube.wants |= u32{1} << places_[bit / 2];
      });
      small_.push_back(cube);
    }
    return uncovered_by_table(small_.data(), small_.size(), static_cast<int>(count), table_);
  }

  Bounds<N> branched(const Part& part) {
    const u32 variable = best_variable(part);
    const Set rest = part.open - fields_[variable];
    Set todo = part.open & fields_[variable];
    Bounds<N> result{N(0)};
    while (!todo.none()) {
      const Set alike = alike_with(todo.lowest(), todo, part);
      const std::size_t first = list_.size();
      const std::size_t bit = alike.lowest();
      for (std::size_t at = part.first; at < part.last; ++at)
        if (!cubes_[list_[at]].has(bit)) list_.push_back(list_[at]);
      Bounds<N> below = uncovered(first, rest);
      if (!binary_) below *= weight(alike);
      result += below;
      todo -= alike;
    }
    return result;
  }

  // The classes of the variable that lead to the same subproblem as this one.
  Set alike_with(std::size_t bit, Set candidates, const Part& part) const {
    for (std::size_t at = part.first; at < part.last && candidates.count() > 1; ++at) {
      const Set& forbids = cubes_[list_[at]];
      if (forbids.has(bit))
        candidates &= forbids;
      else
        candidates -= forbids;
    }
    return candidates;
  }

  u32 best_variable(const Part& part) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    for (std::size_t at = part.first; at < part.last; ++at) {
      const Set rest = cubes_[list_[at]] & part.open;
      const double score = powers_[std::min(rest.count(), 63)];
      for_each_bit(rest, [&](std::size_t bit) { scores_[variable_of_[bit]] += score; });
    }
    return static_cast<u32>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  }

  // Without looking further: at least the largest cube is covered, at most all cubes apart.
  Bounds<N> proven(const Part& part) const {
    N total(1);
    multiply_by_all(part.open, total);
    N largest, low = total;
    for (std::size_t at = part.first; at < part.last; ++at) {
      N size(1);
      size_of(cubes_[list_[at]], part.open, size);
      if (largest < size) largest = size;
      if (low < size)
        low = N(0);
      else
        low -= size;
    }
    N high = total;
    high -= largest;
    return {low, high};
  }

  void size_of(const Set& forbids, Set open, N& size) const {
    while (!open.none()) {
      const Set field = open & fields_[variable_of_[open.lowest()]];
      size *= weight(field - forbids);
      open -= field;
    }
  }

  Budget& budget_;
  Memory<N> memory_;
  std::size_t words_;
  bool binary_ = true;
  std::vector<Set> fields_, cubes_;
  std::vector<u32> variable_of_;
  std::vector<N> weights_;
  std::vector<u32> list_;
  std::vector<Part> parts_;
  std::vector<double> scores_;
  std::array<double, 64> powers_{};
  std::vector<u32> places_;
  std::vector<SmallCube> small_;
  std::vector<u64> table_;
};

template <class N, int W>
Bounds<Natural> solve_as(const Cover& cover, Budget& budget, std::size_t memory) {
  const Bounds<N> result = Solver<N, W>(cover, budget, memory).run();
  return {Natural(result.low), Natural(result.high)};
}

template <class N>
Bounds<Natural> solve_with(const Cover& cover, Budget& budget, std::size_t memory) {
  switch (cover.words()) {
    case 1: return solve_as<N, 1>(cover, budget, memory);
    case 2: return solve_as<N, 2>(cover, budget, memory);
    case 3: return solve_as<N, 3>(cover, budget, memory);
    case 4: return solve_as<N, 4>(cover, budget, memory);
    default: return solve_as<N, 0>(cover, budget, memory);
  }
}

// The weight of the assignments of the cover's variables that no cube allows.
inline Bounds<Natural> solve(const Cover& cover, Budget& budget, std::size_t memory) {
  Natural total(1);
  for (std::size_t v = 0; v < cover.variables(); ++v) total *= cover.total(v);
  if (total.bits() <= 64) return solve_with<Wide<1>>(cover, budget, memory);
  if (total.bits() <= 128) return solve_with<Wide<2>>(cover, budget, memory);
  return solve_with<Natural>(cover, budget, memory);
}

}  // namespace contextwise

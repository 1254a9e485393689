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
  }

  // Bounds on the weight of the assignments that no cube allows. Subproblems with less than `least`
  // of all contexts are not looked into.
  Bounds<N> run(double least) {
    least_ = least;
    Set open(words_);
    for (const Set& field : fields_) open |= field;
    list_.resize(cubes_.size());
    std::iota(list_.begin(), list_.end(), u32{0});
    return uncovered(0, open, 1.0);
  }

 private:
  // BASE to the power of -k.
  static constexpr double BASE = 1.1;
  static constexpr std::array<double, 64> POWERS = [] {
    std::array<double, 64> powers{1.0};
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = powers[k - 1] / BASE;
    return powers;
  }();

  // A connected subproblem: its cubes are list_[first..last).
  struct Part {
    std::size_t first, last;
    Set open;
  };

  // The subproblem whose cubes are list_[first..]; the list is ours to change, and gone after.
  Bounds<N> uncovered(std::size_t first, Set open, double share) {
    N factor(1);
    if (!propagate(first, open, factor)) {
      list_.resize(first);
      return Bounds<N>(N(0));
    }
    const std::size_t base = parts_.size();
    split(first, open, factor);
    Bounds<N> result{factor};
    for (std::size_t p = base; p < parts_.size() && !result.is_zero(); ++p) {
      const Part part = parts_[p];
      result *= component(part, share);
    }
    parts_.resize(base);
    list_.resize(first);
    return result;
  }

  // The unit rule until nothing changes; false if some cube is everything.
  bool propagate(std::size_t first, Set& open, N& factor) {
    Set fixed(words_), narrowed(words_);
    for (bool again = true; again;) {
      again = false;
      std::size_t kept = first;
      for (std::size_t at = first; at < list_.size(); ++at) {
        const u32 c = list_[at];
        if (cubes_[c].meets(fixed)) continue;
        const Set rest = cubes_[c] & open;
        if (rest.none()) return false;
        if (binary_ ? rest.single() : rest.inside(field_of(rest))) {
          again = true;
          narrow(rest, open, fixed, narrowed, factor);
        } else if (binary_ || !excluded(rest, open, narrowed)) {
          list_[kept++] = c;
        }
      }
      list_.resize(kept);
    }
    return true;
  }

  // Leaves one variable only the classes in `rest`.
  void narrow(const Set& rest, Set& open, Set& fixed, Set& narrowed, N& factor) const {
    open -= field_of(rest);
    if (rest.single()) {
      fixed |= rest;
      if (!binary_) factor *= weights_[rest.lowest()];
    } else {
      open |= rest;
      narrowed |= rest;
    }
  }

  // Whether a narrowed variable has only classes left that the cube forbids.
  bool excluded(const Set& rest, const Set& open, const Set& narrowed) const {
    for (Set look = rest & narrowed; !look.none();) {
      const Set& field = field_of(look);
      if ((open & field).inside(rest)) return true;
      look -= field;
    }
    return false;
  }

  // The field of the lowest variable in the set.
  const Set& field_of(const Set& set) const { return fields_[variable_of_[set.lowest()]]; }

  // The fields of all variables in the set.
  Set fields_of(Set set) const {
    if (binary_) return set.fill_twins();
    Set result(words_);
    while (!set.none()) {
      const Set& field = field_of(set);
      result |= field;
      set -= field;
    }
    return result;
  }

  // Parts that share no variable, pushed on parts_; variables of no cube go into the factor.
  void split(std::size_t first, const Set& open, N& factor) {
    const std::size_t count = list_.size() - first;
    groups_.clear();
    homes_.resize(count);
    std::size_t apart = 0;
    for (std::size_t k = 0; k < count; ++k)
      homes_[k] = join(fields_of(cubes_[list_[first + k]] & open), apart);
    Set used(words_);
    for (u32 g = 0; g < groups_.size(); ++g) {
      if (groups_[g].root != g) continue;
      used |= groups_[g].fields;
      std::size_t begin = first;
      if (apart > 1) {
        begin = list_.size();
        for (std::size_t k = 0; k < count; ++k)
          if (root_of(homes_[k]) == g) list_.push_back(list_[first + k]);
      }
      parts_.push_back({begin, list_.size(), open & groups_[g].fields});
    }
    multiply_by_all(open - used, factor);
  }

  // Adds the variables of one cube to the groups: it may open a group, or join some into one.
  u32 join(const Set& mine, std::size_t& apart) {
    u32 home = NONE;
    for (u32 g = 0; g < groups_.size(); ++g) {
      if (groups_[g].root != g || !groups_[g].fields.meets(mine)) continue;
      if (home == NONE) {
        home = g;
        groups_[home].fields |= mine;
      } else {
        groups_[home].fields |= groups_[g].fields;
        groups_[g].root = home;
        --apart;
      }
    }
    if (home == NONE) {
      home = static_cast<u32>(groups_.size());
      groups_.push_back({mine, home});
      ++apart;
    }
    return home;
  }

  u32 root_of(u32 group) const {
    while (groups_[group].root != group) group = groups_[group].root;
    return group;
  }

  // Times the weight of all assignments of these variables.
  void multiply_by_all(Set open, N& factor) const {
    if (binary_) {
      factor <<= static_cast<unsigned>(open.count() / 2);
      return;
    }
    while (!open.none()) {
      const Set field = open & field_of(open);
      factor *= weight(field);
      open -= field;
    }
  }

  N weight(const Set& bits) const {
    N sum;
    for_each_bit(bits, [&](std::size_t bit) { sum += weights_[bit]; });
    return sum;
  }

  Bounds<N> component(const Part& part, double share) {
    if (binary_ && part.open.count() <= 2 * TRUTH_VARIABLES) return Bounds<N>(N(by_table(part)));
    if (share < least_ || !budget_.enter()) return proven(part);
    const std::size_t key = keys_.size();
    push_key(part);
    const u64 hash = hash_words(keys_.data() + key, keys_.size() - key);
    if (const N* known = memory_.find(keys_.data() + key, keys_.size() - key, hash)) {
      keys_.resize(key);
      return Bounds<N>(*known);
    }
    const std::size_t length = keys_.size() - key;
    const Bounds<N> result = branched(part, share);
    if (result.closed()) memory_.store(keys_.data() + key, length, hash, result.low);
    keys_.resize(key);
    return result;
  }

  // Open bits and the numbers of the cubes say all about a subproblem.
  void push_key(const Part& part) {
    keys_.insert(keys_.end(), part.open.words.begin(), part.open.words.end());
    u64 packed = 1;  // ends the last word, so that no two lists pack alike
    for (std::size_t at = part.first; at < part.last; ++at) {
      if (packed >> 48) {
        keys_.push_back(packed);
        packed = 1;
      }
      packed = packed << (cubes_.size() < 0x7fff ? 15 : 31) | list_[at];
    }
    keys_.push_back(packed);
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
        const u32 mask = u32{1} << places_[bit / 2];
        cube.tests |= mask;
        if (bit % 2 == 0) cube.wants |= mask;
      });
      small_.push_back(cube);
    }
    return uncovered_by_table(small_.data(), small_.size(), static_cast<int>(count), table_);
  }

  Bounds<N> branched(const Part& part, double share) {
    const Set& field = fields_[best_variable(part)];
    const Set rest = part.open - field;
    const double below = share / (part.open & field).count();
    Bounds<N> result{N(0)};
    for (Set todo = part.open & field; !todo.none();) {
      const std::size_t bit = todo.lowest();
      const Set alike = alike_with(bit, todo, part);
      const std::size_t first = list_.size();
      for (std::size_t at = part.first; at < part.last; ++at)
        if (!cubes_[list_[at]].has(bit)) list_.push_back(list_[at]);
      Bounds<N> found = uncovered(first, rest, below * alike.count());
      if (!binary_) found *= weight(alike);
      result += found;
      todo -= alike;
    }
    return result;
  }

  // The classes of the variable that lead to the same subproblem as this one.
  Set alike_with(std::size_t bit, Set candidates, const Part& part) const {
    if (binary_) {
      Set result(words_);
      result.set(bit);
      return result;
    }
    for (std::size_t at = part.first; at < part.last && !candidates.single(); ++at) {
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
      const double score = POWERS[static_cast<std::size_t>(std::min(rest.count(), 63))];
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
      const N size = size_of(cubes_[list_[at]], part.open);
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

  N size_of(const Set& forbids, Set open) const {
    N size(1);
    while (!open.none()) {
      const Set field = open & field_of(open);
      size *= weight(field - forbids);
      open -= field;
    }
    return size;
  }

  struct Group {
    Set fields;
    u32 root;
  };

  static constexpr u32 NONE = ~u32{0};
  Budget& budget_;
  Memory<N> memory_;
  std::size_t words_;
  double least_ = 0;
  bool binary_ = true;  // every variable has two classes, and both weigh one
  std::vector<Set> fields_, cubes_;
  std::vector<u32> variable_of_;
  std::vector<N> weights_;
  // Stacks of the recursion.
  std::vector<u32> list_;
  std::vector<Part> parts_;
  std::vector<u64> keys_;
  // Scratch space.
  std::vector<Group> groups_;
  std::vector<u32> homes_, places_;
  std::vector<double> scores_;
  std::vector<SmallCube> small_;
  std::vector<u64> table_;
};

template <class N, int W>
Bounds<Natural> solve_as(const Cover& cover, Budget& budget, std::size_t memory) {
  const Bounds<N> result = Solver<N, W>(cover, budget, memory).run(0);
  return {Natural(result.low), Natural(result.high)};
}

// Few binary variables, without setting up a recursion.
inline u64 solve_small(const Cover& cover) {
  std::vector<SmallCube> cubes;
  std::vector<u64> table;
  cubes.reserve(cover.size());
  for (u64 forbidden : cover.cubes) {
    SmallCube cube{0, 0};
    for (; forbidden; forbidden &= forbidden - 1) {
      const int bit = std::countr_zero(forbidden);
      cube.tests |= u32{1} << bit / 2;
      if (bit % 2 == 0) cube.wants |= u32{1} << bit / 2;
    }
    cubes.push_back(cube);
  }
  return uncovered_by_table(cubes.data(), cubes.size(), static_cast<int>(cover.variables()), table);
}

inline bool is_small(const Cover& cover) {
  return cover.weights.empty() && cover.variables() <= TRUTH_VARIABLES &&
         cover.bits() == 2 * cover.variables();
}

// The weight of the assignments of the cover's variables that no cube allows; the cover is reduced.
inline Bounds<Natural> solve(const Cover& cover, Budget& budget, std::size_t memory) {
  if (is_small(cover)) return Bounds<Natural>(Natural(solve_small(cover)));
  Natural total(1);
  for (std::size_t v = 0; v < cover.variables(); ++v) total *= cover.total(v);
  const std::size_t words = cover.words();
  // Each width is compiled by itself; these few fit nearly all covers.
  if (total.bits() <= 64) {
    if (words <= 1) return solve_as<Wide<1>, 1>(cover, budget, memory);
    if (words <= 2) return solve_as<Wide<1>, 2>(cover, budget, memory);
  }
  if (total.bits() <= 128) {
    if (words <= 3) return solve_as<Wide<2>, 3>(cover, budget, memory);
    if (words <= 4) return solve_as<Wide<2>, 4>(cover, budget, memory);
  }
  if (total.bits() <= 256 && words <= 8) return solve_as<Wide<4>, 8>(cover, budget, memory);
  return solve_as<Natural, 0>(cover, budget, memory);
}

}  // namespace contextwise

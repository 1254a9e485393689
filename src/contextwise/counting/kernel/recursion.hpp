// The recursion: how many contexts of a cover lie in no cube.
//
// branch.py explains the method: unit rule, components, memory, branching on a long cube or on the
// values of a variable. Here a subproblem is a stretch of one stack, the numbers of its cubes, and
// one bit set, `open`: the classes still possible of the variables not yet decided. What a cube
// still forbids is what it forbids of the open bits. Further differences: cubes inside others are
// not looked for at every step, a few binary variables are counted by truth table, a few cubes by
// inclusion and exclusion.
//
// Work can stop early: past the budget every subproblem answers with bounds that are cheap to
// prove, and sums, differences and products of bounds are bounds of the whole.
//
// Space: a step of the recursion decides a variable or sets a cube aside, so it is never deeper
// than there are variables and cubes, and each level holds one number per cube at most and a few
// bit sets. The call stack does not grow with the depth, because after some levels the recursion
// goes on in a thread of its own. Besides, there is the memory, which has a limit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "budget.hpp"
#include "cover.hpp"
#include "fixed_cover.hpp"
#include "hashing.hpp"
#include "inclusion.hpp"
#include "interval.hpp"
#include "memory.hpp"
#include "truth.hpp"

namespace contextwise {

template <class N, int W>
class Recursion {
  using Set = Bits<W>;

 public:
  Recursion(const Cover& cover, Budget& budget, std::size_t memory_bytes)
      : cover_(cover), budget_(budget), memory_(memory_bytes), places_(cover.variables()) {}

  // Bounds on the weight of the assignments that no cube allows. Subproblems with less than `least`
  // of all contexts are not looked into.
  Interval<N> run(double least) {
    least_ = least;
    const Part part = whole();
    return conditioned(part, part.open, {none(), none()}, 1.0);
  }

  // The same without recursion, where that is no work to speak of.
  Interval<N> at_first_sight() {
    const Part part = whole();
    const bool quick = cover_.binary || part.size() * cover_.fields.size() <= QUICK;
    return quick ? proven(part) : Interval<N>(N(0), cover_.assignments(part.open));
  }

  // What is held for the memory and for the stacks of the recursion.
  std::size_t bytes() const {
    return memory_.bytes() + list_.capacity() * sizeof(u32) + keys_.capacity() * sizeof(u64) +
           parts_.capacity() * (sizeof(Part) + (W ? 0 : cover_.words * sizeof(u64)));
  }

 private:
  static constexpr u32 NONE = ~u32{0};
  // A cube that tests this many variables is branched on as a whole. Measured on the overfitted
  // trees of plants and jester: 5 and 7 take up to a third longer, 8 up to twice as long.
  static constexpr int LONG = 6;
  static constexpr std::size_t QUICK = 300'000;
  // Up to so many variables a table is better for more than half of a few cubes.
  static constexpr int TINY_TABLE = 8;
  // So many levels of the recursion are sure to fit on the stack of one thread.
  static constexpr std::size_t LEVELS = 400;

  // A connected subproblem: its cubes are list_[first..last).
  struct Part {
    std::size_t first, last;
    Set open;

    std::size_t size() const { return last - first; }
  };
  // What is known on the way into a subproblem: classes that variables were fixed to, and those
  // that a variable of several classes was narrowed to. Cubes that forbid all of either are gone.
  struct Known {
    Set fixed, narrowed;
  };
  struct Group {
    Set fields;
    u32 root;
  };

  Set none() const { return Set(cover_.words); }
  // What a cube of the list forbids of the open bits.
  Set rest(std::size_t at, const Set& open) const { return cover_.cubes[list_[at]] & open; }

  // The cover itself as a part.
  Part whole() {
    Part part{0, cover_.cubes.size(), none()};
    for (const Set& field : cover_.fields) part.open |= field;
    list_.clear();
    for (u32 c = 0; c < cover_.cubes.size(); ++c) list_.push_back(c);
    return part;
  }

  Interval<N> proven(const Part& part) { return cover_.proven(cubes_of(part), part.open); }

  std::span<const u32> cubes_of(const Part& part) const {
    return {list_.data() + part.first, part.size()};
  }

  // A part of which more is known.
  Interval<N> conditioned(const Part& part, Set open, Known known, double share) {
    if (budget_.late) return {N(0), cover_.assignments(open)};  // no time even for cheap bounds
    const std::size_t first = list_.size();
    list_.resize(first + part.size());
    N factor(1);
    if (!propagate(part, first, open, known, factor)) {
      list_.resize(first);
      return Interval<N>(N(0));
    }
    const Interval<N> result = product(first, list_.size(), open, factor, share);
    list_.resize(first);
    return result;
  }

  // The cubes list_[first..last) as parts that share no variable.
  Interval<N> product(std::size_t first, std::size_t last, const Set& open, N factor,
                      double share) {
    const std::size_t parts = parts_.size(), end = list_.size();
    factor *= cover_.assignments(open - split(first, last, open));
    Interval<N> result{factor};
    for (std::size_t k = parts; k < parts_.size() && !result.is_zero(); ++k) {
      Part part = parts_[k];
      part.open &= open;
      result *= component(part, share);
    }
    parts_.resize(parts);
    list_.resize(end);
    return result;
  }

  // Copies a part to list_[first..] as far as it stays, by the unit rule until nothing changes;
  // false if some cube is everything.
  bool propagate(const Part& part, std::size_t first, Set& open, Known& known, N& factor) {
    std::size_t from = part.first, end = part.last;
    for (bool again = true; again;) {
      again = false;
      std::size_t kept = first;
      for (std::size_t at = from; at < end; ++at) {
        const Set& cube = cover_.cubes[list_[at]];
        if (cube.meets(known.fixed)) continue;
        const Set rest = cube & open;
        if (rest.none()) return false;
        if (!cover_.binary && excluded(rest, open, known.narrowed)) continue;
        if (cover_.binary ? rest.single() : rest.inside(cover_.field_of(rest))) {
          again = true;
          narrow(rest, open, known, factor);
        } else {
          list_[kept++] = list_[at];
        }
      }
      from = first;
      end = kept;
    }
    list_.resize(end);
    return true;
  }

  // Leaves one variable only these classes.
  void narrow(const Set& classes, Set& open, Known& known, N& factor) const {
    open -= cover_.field_of(classes);
    if (classes.single()) {
      known.fixed |= classes;
      if (!cover_.binary) factor *= cover_.weights[classes.lowest()];
    } else {
      open |= classes;
      known.narrowed |= classes;
    }
  }

  // Whether a narrowed variable has only classes left that the cube forbids.
  bool excluded(const Set& rest, const Set& open, const Set& narrowed) const {
    for (Set look = rest & narrowed; !look.none();) {
      const Set& field = cover_.field_of(look);
      if ((open & field).inside(rest)) return true;
      look -= field;
    }
    return false;
  }

  // Pushes parts that share no variable on parts_; returns the fields of all of them.
  Set split(std::size_t first, std::size_t last, const Set& open) {
    const std::size_t count = last - first;
    groups_.clear();
    homes_.resize(count);
    std::size_t apart = 0;
    for (std::size_t k = 0; k < count; ++k)
      homes_[k] = join(cover_.fields_of(rest(first + k, open)), apart);
    Set used = none();
    for (u32 g = 0; g < groups_.size(); ++g) {
      if (groups_[g].root != g) continue;
      used |= groups_[g].fields;
      Part part{first, last, groups_[g].fields};
      if (apart > 1) {
        part.first = list_.size();
        for (std::size_t k = 0; k < count; ++k)
          if (root_of(homes_[k]) == g) list_.push_back(list_[first + k]);
        part.last = list_.size();
      }
      parts_.push_back(part);
    }
    return used;
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

  Interval<N> component(const Part& part, double share) {
    if (cover_.binary) {
      const int variables = part.open.count() / 2;
      const std::size_t few = variables <= TINY_TABLE ? FEW_CUBES / 2 : FEW_CUBES;
      if (part.size() <= few) return Interval<N>(by_inclusion(part, variables));
      if (variables <= TRUTH_VARIABLES) return Interval<N>(N(by_table(part)));
    }
    if (share < least_ || !budget_.enter())
      return budget_.late ? Interval<N>(N(0), cover_.assignments(part.open)) : proven(part);
    const std::size_t first = keys_.size();
    push_key(part);
    const std::size_t length = keys_.size() - first;
    const auto key = [&] { return std::span<const u64>(keys_.data() + first, length); };
    const u64 hash = hash_of(key());
    Interval<N> result;
    if (const std::optional<N> known = memory_.find(key(), hash)) {
      result = Interval<N>(*known);
    } else {
      result = deeper(part, share);
      if (result.closed()) memory_.store(key(), hash, result.low);
    }
    keys_.resize(first);
    return result;
  }

  // Open bits and the numbers of the cubes say all about a subproblem.
  void push_key(const Part& part) {
    keys_.insert(keys_.end(), part.open.words.begin(), part.open.words.end());
    const unsigned width = cover_.cubes.size() < 0x8000 ? 15 : 31;
    u64 packed = 1;  // ends the last word, so that no two lists pack alike
    for (u32 cube : cubes_of(part)) {
      if (packed >> (63 - width)) {
        keys_.push_back(packed);
        packed = 1;
      }
      packed = packed << width | cube;
    }
    keys_.push_back(packed);
  }

  N by_inclusion(const Part& part, int variables) {
    few_.clear();
    for (std::size_t at = part.first; at < part.last; ++at) few_.add(rest(at, part.open));
    return few_.uncovered(variables);
  }

  u64 by_table(const Part& part) {
    u32 count = 0;
    for_each_bit(part.open, [&](std::size_t bit) {
      if (bit % 2 == 0) places_[bit / 2] = count++;
    });
    small_.clear();
    for (std::size_t at = part.first; at < part.last; ++at)
      small_.push_back(
          small_cube(rest(at, part.open).words, [&](std::size_t v) { return places_[v]; }));
    return uncovered_by_table(small_.data(), small_.size(), static_cast<int>(count), table_);
  }

  // The next level of the recursion, on a fresh stack if this one has enough of them.
  Interval<N> deeper(const Part& part, double share) {
    Interval<N> result;
    if (++depth_ % LEVELS == 0)
      result = std::async(std::launch::async, [&] { return branched(part, share); }).get();
    else
      result = branched(part, share);
    --depth_;
    return result;
  }

  Interval<N> branched(const Part& part, double share) {
    std::size_t longest = part.first;
    int most = 0;
    for (std::size_t at = part.first; at < part.last; ++at) {
      const int tests = cover_.tests_of(rest(at, part.open));
      if (tests <= most) continue;
      longest = at;
      most = tests;
    }
    return most >= LONG ? by_cube(part, longest, share) : by_values(part, share);
  }

  // A long cube adds little: count without it, and take away what it alone covers. Inside the cube
  // nearly everything is decided. Meanwhile it stands behind the others, which keep their order.
  Interval<N> by_cube(const Part& part, std::size_t which, double share) {
    const Set cube = rest(which, part.open);
    set_aside(which, part.last);
    const Part others{part.first, part.last - 1, part.open};
    Interval<N> result = product(others.first, others.last, part.open, N(1), share);
    Set open = part.open;
    Known inside{none(), none()};
    N factor(1);
    for (Set todo = cover_.fields_of(cube) & open; !todo.none();) {
      const Set mine = todo & cover_.field_of(todo);
      narrow(mine - cube, open, inside, factor);
      todo -= mine;
    }
    const double its_share = std::ldexp(share, -cover_.tests_of(cube));
    Interval<N> alone = conditioned(others, open, inside, its_share);
    put_back(which, part.last);
    alone *= factor;
    return result -= alone;
  }

  void set_aside(std::size_t which, std::size_t last) {
    u32* const list = list_.data();
    std::rotate(list + which, list + which + 1, list + last);
  }
  void put_back(std::size_t which, std::size_t last) {
    u32* const list = list_.data();
    std::rotate(list + which, list + last - 1, list + last);
  }

  // Each value of one variable in turn, those with the same cubes together.
  Interval<N> by_values(const Part& part, double share) {
    const Set& field = cover_.fields[best_variable(part)];
    const Set others = part.open - field;
    const double below = share / (part.open & field).count();
    Interval<N> result{N(0)};
    for (Set todo = part.open & field; !todo.none();) {
      const std::size_t bit = todo.lowest();
      const Set alike = alike_with(bit, todo, part);
      Known known{none(), none()};
      known.fixed.set(bit);
      Interval<N> found = conditioned(part, others, known, below * alike.count());
      if (!cover_.binary) found *= cover_.weight(alike);
      result += found;
      todo -= alike;
    }
    return result;
  }

  // The classes of the variable that lead to the same subproblem as this one.
  Set alike_with(std::size_t bit, Set candidates, const Part& part) const {
    for (u32 cube : cubes_of(part)) {
      if (candidates.single()) break;
      const Set& forbids = cover_.cubes[cube];
      if (forbids.has(bit))
        candidates &= forbids;
      else
        candidates -= forbids;
    }
    return candidates;
  }

  // The variable that most cubes test. The tests are counted for all variables at once: digit k
  // of the count of a variable is its bit in digits_[k].
  u32 best_variable(const Part& part) {
    digits_.assign(static_cast<std::size_t>(std::bit_width(part.size())), none());
    for (std::size_t at = part.first; at < part.last; ++at) {
      Set carry = cover_.fields_of(rest(at, part.open));
      for (std::size_t k = 0; !carry.none(); ++k) {
        const Set sum = digits_[k];
        digits_[k] ^= carry;
        carry &= sum;
      }
    }
    Set most = part.open;
    for (std::size_t k = digits_.size(); k-- > 0;)
      if (most.meets(digits_[k])) most &= digits_[k];
    // In the middle of those, where a long row of cubes falls into two halves.
    for (int before = most.count() / 2; before > 0; --before) most.drop_lowest();
    return cover_.variable_of[most.lowest()];
  }

  const FixedCover<N, W> cover_;
  Budget& budget_;
  Memory<N> memory_;
  double least_ = 0;
  std::size_t depth_ = 0;
  // Stacks of the recursion.
  std::vector<u32> list_;
  std::vector<Part> parts_;
  std::vector<u64> keys_;
  // Scratch space.
  std::vector<Group> groups_;
  std::vector<u32> homes_, places_;
  std::vector<Set> digits_;
  FewCubes<N, W> few_;
  std::vector<SmallCube> small_;
  std::vector<u64> table_;
};

}  // namespace contextwise

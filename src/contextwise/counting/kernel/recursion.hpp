// The recursion that counts the contexts which lie in no cube of a cover.
//
// branch.py explains the method: unit rule, components, cache, branching on a long cube or on the
// values of a variable. Unit rule and components are in subproblem.hpp. Unlike branch.py, this code
// does not remove cubes inside others at every step. It counts few binary variables by truth table
// and few cubes by inclusion and exclusion.
//
// When the budget is used up, every subproblem returns bounds that are cheap to prove. Sums,
// differences and products of bounds are bounds of the whole.
//
// Each step decides a variable or sets a cube aside, so the depth is at most the number of
// variables and cubes. Each level stores at most one number per cube and a few bit sets. After some
// levels the recursion continues on the stack of a new thread, so the depth is not limited by one
// stack. The cache has a limit of its own.
#pragma once

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
#include "hashing.hpp"
#include "inclusion.hpp"
#include "interval.hpp"
#include "memory.hpp"
#include "steps.hpp"
#include "subproblem.hpp"
#include "truth.hpp"

namespace contextwise {

template <class N, int W>
class Recursion : Subproblems<N, W> {
  using Base = Subproblems<N, W>;
  using Base::cover_, Base::list_, Base::parts_, Base::keys_;
  using Base::none, Base::rest, Base::whole, Base::cubes_of, Base::propagate, Base::narrow;
  using Base::split, Base::push_key, Base::set_aside, Base::put_back;
  using typename Base::Known, typename Base::Part, typename Base::Set;

 public:
  // With `in_order` it branches on the variables in the order of the cover.
  Recursion(const Cover& cover, Budget& budget, std::size_t memory_bytes, bool in_order = false)
      : Base(cover),
        budget_(budget),
        in_order_(in_order),
        memory_(uses(Step::MEMORY) ? memory_bytes : 0),
        places_(cover.variables()) {}

  // Returns bounds on the weight of the assignments that no cube allows. It only bounds subproblems
  // whose share of all contexts is below `least`.
  Interval<N> run(double least) {
    least_ = least;
    const Part part = whole();
    return conditioned(part, part.open, {none(), none()}, 1.0);
  }

  // Returns bounds without recursion, if they are cheap.
  Interval<N> at_first_sight() {
    const Part part = whole();
    const bool quick = cover_.binary || part.size() * cover_.fields.size() <= QUICK;
    return quick ? proven(part) : Interval<N>(N(0), cover_.assignments(part.open));
  }

  // Returns the bytes of the cache and of the stacks.
  std::size_t bytes() const {
    return memory_.bytes() + list_.capacity() * sizeof(u32) + keys_.capacity() * sizeof(u64) +
           parts_.capacity() * (sizeof(Part) + (W ? 0 : cover_.words * sizeof(u64)));
  }

 private:
  // Branches on a cube that tests at least this many variables. Measured on the overfitted trees of
  // plants and jester: 5 and 7 take up to a third longer, 8 up to twice as long.
  static constexpr int LONG = 6;
  static constexpr std::size_t QUICK = 300'000;
  // Levels of the recursion that fit on the stack of one thread.
  static constexpr std::size_t LEVELS = 400;

  Interval<N> proven(const Part& part) { return cover_.proven(cubes_of(part), part.open); }

  // Counts a part with additional knowledge.
  Interval<N> conditioned(const Part& part, Set open, Known known, double share) {
    if (budget_.late)
      return {N(0), cover_.assignments(open)};  // no time left, even for cheap bounds
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

  // Counts the cubes list_[first..last) as a product of parts that share no variable.
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

  Interval<N> component(const Part& part, double share) {
    if (cover_.binary) {
      const int variables = part.open.count() / 2;
      const std::size_t few = variables <= TINY_TABLE ? FEW_CUBES / 2 : FEW_CUBES;
      if (uses(Step::INCLUSION) && part.size() <= few)
        return Interval<N>(by_inclusion(part, variables));
      if (uses(Step::TABLES) && variables <= TRUTH_VARIABLES) return Interval<N>(N(by_table(part)));
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

  // Counts the next level, on a new stack if this one has LEVELS levels.
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
    return uses(Step::LONG_CUBES) && most >= LONG ? by_cube(part, longest, share)
                                                  : by_values(part, share);
  }

  // Counts without a long cube, and subtracts what only the cube covers. That is cheap, because the
  // cube decides nearly all variables. Meanwhile the cube is moved behind the others, which keep
  // their order.
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

  // Counts each value of one variable, values with the same cubes together.
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
      Interval<N> inside = conditioned(part, others, known, below * alike.count());
      if (!cover_.binary) inside *= cover_.weight(alike);
      result += inside;
      todo -= alike;
    }
    return result;
  }

  // Returns the candidates that lead to the same subproblem as `bit`.
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

  // Returns the variable that most cubes test. It counts the tests of all variables at once: bit k
  // of a variable's count is the variable's bit in digits_[k].
  u32 best_variable(const Part& part) {
    if (in_order_) return cover_.variable_of[part.open.lowest()];
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
    // Of several, take the middle one, so that a chain of cubes falls into two halves.
    for (int before = most.count() / 2; before > 0; --before) most.drop_lowest();
    return cover_.variable_of[most.lowest()];
  }

  Budget& budget_;
  bool in_order_;
  Memory<N> memory_;
  double least_ = 0;
  std::size_t depth_ = 0;
  // Scratch space.
  std::vector<u32> places_;
  std::vector<Set> digits_;
  FewCubes<N, W> few_;
  std::vector<SmallCube> small_;
  std::vector<u64> table_;
};

}  // namespace contextwise

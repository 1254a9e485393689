// The recursion: how many contexts of a cover lie in no cube.
//
// The steps are those of branch.py, which explains them: unit rule, components, memory, branching on
// a long cube or on the values of a variable. What is different is the bookkeeping. A subproblem is
// a stretch of one stack, with what each cube still forbids, and one bit set, `open`: the classes
// still possible of the variables not yet decided. A few binary variables are counted by truth
// table, a few cubes by inclusion and exclusion.
//
// Work can stop early: past the budget every subproblem answers with bounds that are cheap to prove,
// and sums, differences and products of bounds are bounds of the whole.
#pragma once

#include <cmath>
#include <span>

#include "budget.hpp"
#include "inclusion.hpp"
#include "memory.hpp"
#include "problem.hpp"
#include "truth.hpp"

namespace contextwise {

template <class N, int W>
class Solver {
  using Set = Bits<W>;

 public:
  Solver(const Cover& cover, Budget& budget, std::size_t memory_bytes)
      : p_(cover),
        budget_(budget),
        memory_(memory_bytes),
        places_(cover.variables()) {}

  // Bounds on the weight of the assignments that no cube allows. Subproblems with less than `least`
  // of all contexts are not looked into.
  Bounds<N> run(double least) {
    least_ = least;
    const Part part = whole();
    return conditioned(part, part.open, {none(), none()}, 1.0);
  }

  // The same without recursion, where that is no work to speak of.
  Bounds<N> at_first_sight() {
    const Part part = whole();
    const bool quick = p_.binary || part.size() * p_.fields.size() <= QUICK;
    return quick ? proven(part) : Bounds<N>(N(0), p_.assignments(part.open));
  }

 private:
  static constexpr u32 NONE = ~u32{0};
  static constexpr std::size_t NOWHERE = ~std::size_t{0};
  // A cube that tests this many variables is branched on as a whole. Measured on the overfitted
  // trees of plants and jester: 5 and 7 take up to a third longer, 8 up to twice as long.
  static constexpr int LONG = 6;
  static constexpr std::size_t QUICK = 300'000;
  // Up to so many variables a table is better for more than half of a few cubes.
  static constexpr int TINY_TABLE = 8;

  // A cube of a subproblem: its number in the cover, and what it forbids among the open bits.
  struct Entry {
    Set rest;
    u32 cube;
  };
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

  Set none() const { return Set(p_.words); }

  // The cover itself as a part.
  Part whole() {
    Part part{0, p_.cubes.size(), none()};
    for (const Set& field : p_.fields) part.open |= field;
    list_.clear();
    for (u32 c = 0; c < p_.cubes.size(); ++c) list_.push_back({p_.cubes[c], c});
    return part;
  }

  Bounds<N> proven(const Part& part) {
    chosen_.clear();
    for (const Entry& entry : cubes_of(part)) chosen_.push_back(entry.cube);
    return p_.proven(chosen_, part.open);
  }

  std::span<const Entry> cubes_of(const Part& part) const {
    return {list_.data() + part.first, part.size()};
  }

  // A part of which more is known, perhaps without one of its cubes.
  Bounds<N> conditioned(const Part& part, Set open, Known known, double share,
                        std::size_t without = NOWHERE) {
    if (budget_.late) return {N(0), p_.assignments(open)};  // no time even for cheap bounds
    const std::size_t first = list_.size();
    list_.resize(first + part.size());
    N factor(1);
    if (!propagate(part, without, first, open, known, factor)) {
      list_.resize(first);
      return Bounds<N>(N(0));
    }
    return product(first, open, factor, share);
  }

  // A part without one of its cubes.
  Bounds<N> without(const Part& part, std::size_t which, double share) {
    const std::size_t first = list_.size();
    list_.reserve(first + part.size());
    for (std::size_t at = part.first; at < part.last; ++at)
      if (at != which) list_.push_back(list_[at]);
    return product(first, part.open, N(1), share);
  }

  // The cubes list_[first..], which are gone after, as parts that share no variable.
  Bounds<N> product(std::size_t first, const Set& open, N factor, double share) {
    const std::size_t base = parts_.size();
    factor *= p_.assignments(open - split(first));
    Bounds<N> result{factor};
    for (std::size_t k = base; k < parts_.size() && !result.is_zero(); ++k) {
      Part part = parts_[k];
      part.open &= open;
      result *= component(part, share);
    }
    parts_.resize(base);
    list_.resize(first);
    return result;
  }

  // Copies a part to list_[first..] as far as it stays, by the unit rule until nothing changes;
  // false if some cube is everything.
  bool propagate(const Part& part, std::size_t without, std::size_t first, Set& open, Known& known,
                 N& factor) {
    std::size_t from = part.first, end = part.last;
    for (bool again = true; again;) {
      again = false;
      std::size_t kept = first;
      for (std::size_t at = from; at < end; ++at) {
        if (at == without || list_[at].rest.meets(known.fixed)) continue;
        const Set rest = list_[at].rest & open;
        if (rest.none()) return false;
        if (!p_.binary && excluded(rest, open, known.narrowed)) continue;
        if (p_.binary ? rest.single() : rest.inside(p_.field_of(rest))) {
          again = true;
          narrow(rest, open, known, factor);
        } else {
          list_[kept++] = {rest, list_[at].cube};
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
    open -= p_.field_of(classes);
    if (classes.single()) {
      known.fixed |= classes;
      if (!p_.binary) factor *= p_.weights[classes.lowest()];
    } else {
      open |= classes;
      known.narrowed |= classes;
    }
  }

  // Whether a narrowed variable has only classes left that the cube forbids.
  bool excluded(const Set& rest, const Set& open, const Set& narrowed) const {
    for (Set look = rest & narrowed; !look.none();) {
      const Set& field = p_.field_of(look);
      if ((open & field).inside(rest)) return true;
      look -= field;
    }
    return false;
  }

  // Pushes parts that share no variable on parts_; returns the fields of all of them.
  Set split(std::size_t first) {
    const std::size_t count = list_.size() - first;
    groups_.clear();
    homes_.resize(count);
    std::size_t apart = 0;
    for (std::size_t k = 0; k < count; ++k)
      homes_[k] = join(p_.fields_of(list_[first + k].rest), apart);
    Set used = none();
    for (u32 g = 0; g < groups_.size(); ++g) {
      if (groups_[g].root != g) continue;
      used |= groups_[g].fields;
      std::size_t begin = first;
      if (apart > 1) {
        begin = list_.size();
        for (std::size_t k = 0; k < count; ++k)
          if (root_of(homes_[k]) == g) list_.push_back(list_[first + k]);
      }
      parts_.push_back({begin, list_.size(), groups_[g].fields});
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

  Bounds<N> component(const Part& part, double share) {
    if (p_.binary) {
      const int variables = part.open.count() / 2;
      const std::size_t few = variables <= TINY_TABLE ? FEW_CUBES / 2 : FEW_CUBES;
      if (part.size() <= few) return Bounds<N>(by_inclusion(part, variables));
      if (variables <= TRUTH_VARIABLES) return Bounds<N>(N(by_table(part)));
    }
    if (share < least_ || !budget_.enter())
      return budget_.late ? Bounds<N>(N(0), p_.assignments(part.open)) : proven(part);
    const std::size_t key = keys_.size();
    push_key(part);
    const std::size_t length = keys_.size() - key;
    const u64 hash = hash_words(keys_.data() + key, length);
    Bounds<N> result;
    if (const N* known = memory_.find(keys_.data() + key, length, hash)) {
      result = Bounds<N>(*known);
    } else {
      result = branched(part, share);
      if (result.closed()) memory_.store(keys_.data() + key, length, hash, result.low);
    }
    keys_.resize(key);
    return result;
  }

  // Open bits and the numbers of the cubes say all about a subproblem.
  void push_key(const Part& part) {
    keys_.insert(keys_.end(), part.open.words.begin(), part.open.words.end());
    const unsigned width = p_.cubes.size() < 0x8000 ? 15 : 31;
    u64 packed = 1;  // ends the last word, so that no two lists pack alike
    for (const Entry& entry : cubes_of(part)) {
      if (packed >> (63 - width)) {
        keys_.push_back(packed);
        packed = 1;
      }
      packed = packed << width | entry.cube;
    }
    keys_.push_back(packed);
  }

  N by_inclusion(const Part& part, int variables) {
    few_.clear();
    for (const Entry& entry : cubes_of(part)) few_.add(entry.rest);
    return few_.uncovered(variables);
  }

  u64 by_table(const Part& part) {
    u32 count = 0;
    for_each_bit(part.open, [&](std::size_t bit) {
      if (bit % 2 == 0) places_[bit / 2] = count++;
    });
    small_.clear();
    for (const Entry& entry : cubes_of(part))
      small_.push_back(small_cube(entry.rest.words, [&](std::size_t v) { return places_[v]; }));
    return uncovered_by_table(small_.data(), small_.size(), static_cast<int>(count), table_);
  }

  Bounds<N> branched(const Part& part, double share) {
    std::size_t longest = part.first;
    int most = 0;
    for (std::size_t at = part.first; at < part.last; ++at) {
      const int tests = p_.tests_of(list_[at].rest);
      if (tests > most) {
        most = tests;
        longest = at;
      }
    }
    return most >= LONG ? by_cube(part, longest, share) : by_values(part, share);
  }

  // A long cube adds little: count without it, and take away what it alone covers. Inside the cube
  // nearly everything is decided.
  Bounds<N> by_cube(const Part& part, std::size_t which, double share) {
    const Set cube = list_[which].rest;
    Bounds<N> result = without(part, which, share);
    Set open = part.open;
    Known inside{none(), none()};
    N factor(1);
    for (Set todo = p_.fields_of(cube) & open; !todo.none();) {
      const Set mine = todo & p_.field_of(todo);
      narrow(mine - cube, open, inside, factor);
      todo -= mine;
    }
    const double its_share = std::ldexp(share, -p_.tests_of(cube));
    Bounds<N> alone = conditioned(part, open, inside, its_share, which);
    alone *= factor;
    return result -= alone;
  }

  // Each value of one variable in turn, those with the same cubes together.
  Bounds<N> by_values(const Part& part, double share) {
    const Set& field = p_.fields[best_variable(part)];
    const Set rest = part.open - field;
    const double below = share / (part.open & field).count();
    Bounds<N> result{N(0)};
    for (Set todo = part.open & field; !todo.none();) {
      const std::size_t bit = todo.lowest();
      const Set alike = alike_with(bit, todo, part);
      Known known{none(), none()};
      known.fixed.set(bit);
      Bounds<N> found = conditioned(part, rest, known, below * alike.count());
      if (!p_.binary) found *= p_.weight(alike);
      result += found;
      todo -= alike;
    }
    return result;
  }

  // The classes of the variable that lead to the same subproblem as this one.
  Set alike_with(std::size_t bit, Set candidates, const Part& part) const {
    for (std::size_t at = part.first; at < part.last && !candidates.single(); ++at) {
      const Set& forbids = list_[at].rest;
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
    for (const Entry& entry : cubes_of(part)) {
      Set carry = p_.fields_of(entry.rest);
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
    return p_.variable_of[most.lowest()];
  }

  const Problem<N, W> p_;
  Budget& budget_;
  Memory<N> memory_;
  double least_ = 0;
  // Stacks of the recursion.
  std::vector<Entry> list_;
  std::vector<Part> parts_;
  std::vector<u64> keys_;
  // Scratch space.
  std::vector<Group> groups_;
  std::vector<u32> homes_, places_, chosen_;
  std::vector<Set> digits_;
  FewCubes<N, W> few_;
  std::vector<SmallCube> small_;
  std::vector<u64> table_;
};

}  // namespace contextwise

// Subproblems of the recursion, and how they shrink without branching: by the unit rule, and by
// splitting into parts that share no variable.
//
// A subproblem is a list of cubes and one bit set, `open`. The numbers of the cubes are on a stack
// that all subproblems share. The open bits are the classes that are still possible for variables
// that are not decided. Only these bits of a cube matter.
//
// The unit rule: the recursion counts contexts outside of all cubes. So a cube that tests only one
// variable leaves this variable the classes that the cube forbids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "bits.hpp"
#include "cover.hpp"
#include "fixed_cover.hpp"
#include "steps.hpp"

namespace contextwise {

template <class N, int W>
class Subproblems {
 protected:
  using Set = Bits<W>;

  // A connected subproblem: its cubes are list_[first..last).
  struct Part {
    std::size_t first, last;
    Set open;

    std::size_t size() const { return last - first; }
  };
  // Knowledge about a subproblem: the classes that variables are fixed to, and the sets of classes
  // that variables are narrowed to. Cubes that forbid all of them are dropped.
  struct Known {
    Set fixed, narrowed;
  };

  explicit Subproblems(const Cover& cover) : cover_(cover) {}

  Set none() const { return Set(cover_.words); }
  // Returns the open bits that a cube of the list forbids.
  Set rest(std::size_t at, const Set& open) const { return cover_.cubes[list_[at]] & open; }

  // Returns the whole cover as a part.
  Part whole() {
    Part part{0, cover_.cubes.size(), none()};
    for (const Set& field : cover_.fields) part.open |= field;
    list_.clear();
    for (u32 c = 0; c < cover_.cubes.size(); ++c) list_.push_back(c);
    return part;
  }

  std::span<const u32> cubes_of(const Part& part) const {
    return {list_.data() + part.first, part.size()};
  }

  // Copies the remaining cubes of a part to list_[first..], applying the unit rule until nothing
  // changes. Returns false if some cube covers everything.
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
        if (uses(Step::UNIT_RULE) &&
            (cover_.binary ? rest.single() : rest.inside(cover_.field_of(rest)))) {
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

  // Restricts one variable to these classes.
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

  // Pushes parts that share no variable onto parts_. Returns the fields of all of them.
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

  // Pushes the key of a subproblem: its open bits and the numbers of its cubes.
  void push_key(const Part& part) {
    keys_.insert(keys_.end(), part.open.words.begin(), part.open.words.end());
    const unsigned width = cover_.cubes.size() < 0x8000 ? 15 : 31;
    u64 packed = 1;  // marks the end, so that different lists have different keys
    for (u32 cube : cubes_of(part)) {
      if (packed >> (63 - width)) {
        keys_.push_back(packed);
        packed = 1;
      }
      packed = packed << width | cube;
    }
    keys_.push_back(packed);
  }

  void set_aside(std::size_t which, std::size_t last) {
    u32* const list = list_.data();
    std::rotate(list + which, list + which + 1, list + last);
  }
  void put_back(std::size_t which, std::size_t last) {
    u32* const list = list_.data();
    std::rotate(list + which, list + last - 1, list + last);
  }

  const FixedCover<N, W> cover_;
  // Stacks of the recursion.
  std::vector<u32> list_;
  std::vector<Part> parts_;
  std::vector<u64> keys_;

 private:
  static constexpr u32 NONE = ~u32{0};

  struct Group {
    Set fields;
    u32 root;
  };

  // Tests whether the cube forbids all remaining classes of a narrowed variable.
  bool excluded(const Set& rest, const Set& open, const Set& narrowed) const {
    for (Set look = rest & narrowed; !look.none();) {
      const Set& field = cover_.field_of(look);
      if ((open & field).inside(rest)) return true;
      look -= field;
    }
    return false;
  }

  // Adds the variables of one cube to the groups. This may start a group or join several.
  u32 join(const Set& mine, std::size_t& apart) {
    u32 home = NONE;
    for (u32 g = 0; g < groups_.size(); ++g) {
      if (groups_[g].root != g || (uses(Step::COMPONENTS) && !groups_[g].fields.meets(mine)))
        continue;
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

  // Scratch space of `split`.
  std::vector<Group> groups_;
  std::vector<u32> homes_;
};

}  // namespace contextwise

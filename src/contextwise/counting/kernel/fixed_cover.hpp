// A cover as the recursion sees it, with sets of bits of a known width, and what can be said of a
// set of bits without recursion.
#pragma once

#include <cstddef>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "cover.hpp"
#include "interval.hpp"

namespace contextwise {

// Numbers of type N, sets of bits of W words.
template <class N, int W>
struct FixedCover {
  using Set = Bits<W>;

  explicit FixedCover(const Cover& cover) : words(cover.words()) {
    for (u32 v = 0; v < cover.variables(); ++v) {
      Set field(words);
      for (u32 bit = cover.start[v]; bit < cover.start[v + 1]; ++bit) {
        field.set(bit);
        variable_of.push_back(v);
        weights.push_back(N(cover.weight(bit).words()));
      }
      fields.push_back(field);
    }
    binary = cover.is_binary();
    for (std::size_t c = 0; c < cover.size(); ++c) cubes.emplace_back(cover.cube(c), words);
  }

  // The field of the lowest variable in the set.
  const Set& field_of(const Set& set) const { return fields[variable_of[set.lowest()]]; }

  // The fields of all variables in the set.
  Set fields_of(Set set) const {
    if (binary) return set.fill_twins();
    Set result(words);
    while (!set.none()) {
      const Set& field = field_of(set);
      result |= field;
      set -= field;
    }
    return result;
  }

  // How many variables have a bit in the set.
  int variables_in(Set set) const {
    int count = 0;
    for (; !set.none(); ++count) set -= field_of(set);
    return count;
  }

  // How many variables a cube tests, given what it forbids.
  int tests_of(const Set& forbids) const {
    return binary ? forbids.count() : variables_in(forbids);
  }

  N weight(const Set& bits) const {
    N sum;
    for_each_bit(bits, [&](std::size_t bit) { sum += weights[bit]; });
    return sum;
  }

  // The weight of all assignments of the open variables.
  N assignments(Set open) const {
    N product(1);
    if (binary) {
      product <<= static_cast<unsigned>(open.count() / 2);
      return product;
    }
    while (!open.none()) {
      const Set field = open & field_of(open);
      product *= weight(field);
      open -= field;
    }
    return product;
  }

  // The weight of the assignments of these variables that one cube allows.
  N size_of(const Set& forbids, Set open) const {
    N size(1);
    while (!open.none()) {
      const Set field = open & field_of(open);
      size *= weight(field - forbids);
      open -= field;
    }
    return size;
  }

  // Bounds on what some cubes leave uncovered, without looking further. They cover no more than the
  // sum of their sizes; and of cubes that share no variable, what they leave uncovered multiplies.
  template <class Cubes>
  Interval<N> proven(const Cubes& chosen, const Set& open) const {
    N low = assignments(open), high(1);
    Set used(words);
    for (u32 c : chosen) {
      const Set mine = fields_of(cubes[c] & open) & open;
      const N inside = size_of(cubes[c], mine);
      N size = inside;
      size *= assignments(open - mine);
      if (low < size)
        low = N(0);
      else
        low -= size;
      if (mine.meets(used)) continue;
      used |= mine;
      N outside = assignments(mine);
      outside -= inside;
      high *= outside;
    }
    high *= assignments(open - used);
    return {low, high};
  }

  std::size_t words;
  bool binary;  // every variable has two classes, and both weigh one
  std::vector<Set> fields, cubes;
  std::vector<u32> variable_of;  // of a bit
  std::vector<N> weights;        // of a bit
};

}  // namespace contextwise

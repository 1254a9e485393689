// A cover with bit sets of a fixed width, as the recursion uses it.
#pragma once

#include <cstddef>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "cover.hpp"
#include "interval.hpp"

namespace contextwise {

// N is the type of numbers, W the number of words of a bit set.
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

  // Returns the field of the lowest variable in the set.
  const Set& field_of(const Set& set) const { return fields[variable_of[set.lowest()]]; }

  // Returns the fields of all variables in the set.
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

  // Counts the variables that have a bit in the set.
  int variables_in(Set set) const {
    int count = 0;
    for (; !set.none(); ++count) set -= field_of(set);
    return count;
  }

  // Counts the variables that a cube tests.
  int tests_of(const Set& forbids) const {
    return binary ? forbids.count() : variables_in(forbids);
  }

  N weight(const Set& bits) const {
    N sum;
    for_each_bit(bits, [&](std::size_t bit) { sum += weights[bit]; });
    return sum;
  }

  // Returns the weight of all assignments of the open variables.
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

  // Returns the weight of the assignments of the open variables that one cube allows.
  N size_of(const Set& forbids, Set open) const {
    N size(1);
    while (!open.none()) {
      const Set field = open & field_of(open);
      size *= weight(field - forbids);
      open -= field;
    }
    return size;
  }

  // Returns cheap bounds on the weight that some cubes leave uncovered. They cover at most the sum
  // of their sizes, and for cubes that share no variable the uncovered parts multiply.
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
  bool binary;  // every variable has two classes of weight one
  std::vector<Set> fields, cubes;
  std::vector<u32> variable_of;  // of each bit
  std::vector<N> weights;        // of each bit
};

}  // namespace contextwise

// Counts a few cubes of binary variables by inclusion and exclusion: each cube adds the part of it
// that earlier cubes leave uncovered.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"

namespace contextwise {

// With more cubes the recursion is faster. Measured on the overfitted trees of plants and jester: 6
// and 10 take a fifth longer.
inline constexpr std::size_t FEW_CUBES = 8;
// Up to this many variables a table beats inclusion and exclusion of more than half of FEW_CUBES.
inline constexpr int TINY_TABLE = 8;

template <class N, int W>
class FewCubes {
  using Set = Bits<W>;

 public:
  FewCubes() : cubes_(FEW_CUBES * (FEW_CUBES + 1) / 2) {}

  void clear() { count_ = 0; }

  // Adds a cube, given by the bits it forbids, two per variable. Short cubes come first, because a
  // long cube decides most variables.
  void add(const Set& forbids) {
    const int length = forbids.count();
    std::size_t at = count_++;
    for (; at && lengths_[at - 1] > length; --at) {
      cubes_[at] = cubes_[at - 1];
      lengths_[at] = lengths_[at - 1];
    }
    cubes_[at] = forbids;
    lengths_[at] = length;
  }

  // Counts the assignments of `variables` variables that lie in no cube.
  N uncovered(int variables) { return outside(cubes_.data(), count_, variables); }

 private:
  // Each level of the recursion writes the earlier cubes, restricted to one cube, into the part of
  // the array after `count`.
  static N outside(Set* cubes, std::size_t count, int variables) {
    N result = power_of_two(variables);
    Set* const inside = cubes + count;
    for (std::size_t c = 0; c < count; ++c) {
      const Set twins = cubes[c].twins();
      std::size_t kept = 0;
      bool whole = false;
      for (std::size_t d = 0; d < c && !whole; ++d) {
        if (cubes[d].meets(twins)) continue;
        inside[kept] = cubes[d] - cubes[c];
        whole = inside[kept++].none();
      }
      if (whole) continue;
      const int left = variables - cubes[c].count();
      if (kept <= 1) {  // the usual case
        if (kept) result += power_of_two(left - inside->count());
        result -= power_of_two(left);
      } else {
        result -= outside(inside, kept, left);
      }
    }
    return result;
  }

  static N power_of_two(int exponent) {
    N result(1);
    result <<= static_cast<unsigned>(exponent);
    return result;
  }

  std::size_t count_ = 0;
  std::array<int, FEW_CUBES> lengths_;
  std::vector<Set> cubes_;
};

}  // namespace contextwise

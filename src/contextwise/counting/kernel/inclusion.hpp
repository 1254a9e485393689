// A few cubes of binary variables by inclusion and exclusion: cube after cube, what it adds is what
// the cubes before it leave uncovered inside it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"

namespace contextwise {

// Beyond this the recursion is quicker. Measured on the overfitted trees of plants and jester: 6
// and 10 take a fifth longer.
inline constexpr std::size_t FEW_CUBES = 8;

template <class N, int W>
class FewCubes {
  using Set = Bits<W>;

 public:
  FewCubes() : cubes_(FEW_CUBES * (FEW_CUBES + 1) / 2) {}

  void clear() { count_ = 0; }

  // A cube by what it forbids, two bits per variable. Short ones go first: inside a long one most
  // is decided.
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

  // How many assignments of so many variables lie in no cube.
  N uncovered(int variables) { return outside(cubes_.data(), count_, variables); }

 private:
  // The array goes on behind these cubes: there each level of the recursion writes what is left of
  // the earlier cubes inside one of them.
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
      if (kept <= 1) {  // most often
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

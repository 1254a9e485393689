// Truth tables of a few binary variables: every assignment is one bit, a cube is a pattern of bits,
// and the union is an OR. With few variables this is much faster than the recursion, because one
// step handles 64 contexts.
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"

// Wheels must run on every x86-64 processor. So GCC compiles the hot loops several times, and the
// loader picks the version for the processor. It picks before a sanitizer's runtime is ready, so
// sanitizer builds have one version.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONTEXTWISE_CLONES __attribute__((target_clones("default", "popcnt", "avx2")))
#else
#define CONTEXTWISE_CLONES
#endif

namespace contextwise {

// A cube over at most 32 binary variables: the variables it tests, and the values it requires.
struct SmallCube {
  u32 tests = 0;
  u32 wants = 0;

  void test(u32 variable, bool value) {
    tests |= u32{1} << variable;
    wants |= u32{value} << variable;
  }
};

// Makes a cube from the bits it forbids, two per variable. `place` maps a variable to its place in
// the table.
template <class Place>
SmallCube small_cube(std::span<const u64> forbids, Place place) {
  SmallCube cube;
  for_each_bit(forbids, [&](std::size_t bit) { cube.test(place(bit / 2), bit % 2 == 0); });
  return cube;
}

// With more variables a table costs more than a few nodes of the recursion; 12 and 16 are not
// better.
inline constexpr int TRUTH_VARIABLES = 14;

// Fills a table of 2^variables bits, at least one word, with the assignments that lie in some cube.
CONTEXTWISE_CLONES
inline void fill_table(const SmallCube* cubes, std::size_t count, int variables,
                       std::vector<u64>& table) {
  // The values of the six lowest variables over the 64 bits of a word.
  static constexpr u64 PATTERN[6] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                     0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
  const u32 words = variables > 6 ? u32{1} << (variables - 6) : 1;
  table.assign(words, 0);
  u64* const data = table.data();
  for (std::size_t c = 0; c < count; ++c) {
    u64 pattern = ~u64{0};
    for (u32 low = cubes[c].tests & 63; low; low &= low - 1) {
      const int k = std::countr_zero(low);
      pattern &= cubes[c].wants >> k & 1 ? PATTERN[k] : ~PATTERN[k];
    }
    // The words that the cube reaches: its required high bits, with every choice of the others.
    const u32 wanted = (cubes[c].wants & cubes[c].tests) >> 6;
    const u32 free = ~(cubes[c].tests >> 6) & (words - 1);
    // If it does not test the lowest of them, the words form runs.
    const u32 run = (free + 1) & ~free, apart = free & ~(run - 1);
    u32 choice = 0;
    do {
      u64* const begin = data + (wanted | choice);
      for (u32 k = 0; k < run; ++k) begin[k] |= pattern;
      choice = (choice - apart) & apart;
    } while (choice);
  }
}

// Counts the assignments in a table of 2^variables bits.
CONTEXTWISE_CLONES
inline u64 covered_in(const std::vector<u64>& table, int variables) {
  u64 covered = 0;
  for (u64 word : table) covered += static_cast<u64>(std::popcount(word));
  // With fewer than six variables a pattern repeats within the word.
  return variables < 6 ? covered >> (6 - variables) : covered;
}

// Counts the assignments that are in exactly one of two tables.
CONTEXTWISE_CLONES
inline u64 differing_in(const u64* first, const u64* second, int variables) {
  const std::size_t words = variables > 6 ? std::size_t{1} << (variables - 6) : 1;
  u64 differing = 0;
  for (std::size_t k = 0; k < words; ++k)
    differing += static_cast<u64>(std::popcount(first[k] ^ second[k]));
  return variables < 6 ? differing >> (6 - variables) : differing;
}

// Counts the assignments that lie in no cube. `table` is scratch space.
inline u64 uncovered_by_table(const SmallCube* cubes, std::size_t count, int variables,
                              std::vector<u64>& table) {
  fill_table(cubes, count, variables, table);
  return (u64{1} << variables) - covered_in(table, variables);
}

}  // namespace contextwise

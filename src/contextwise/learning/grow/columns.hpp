// Data as bit sets: for each value of each variable, the rows that have it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runner.hpp"

namespace contextwise::grow {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Wheels must run on every x86-64 processor. So GCC compiles these loops twice, with and without a
// popcount instruction, and the loader picks the version for the processor.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONTEXTWISE_VERSIONS __attribute__((target_clones("popcnt", "default")))
#else
#define CONTEXTWISE_VERSIONS
#endif

// Counts the bits that are in both sets.
CONTEXTWISE_VERSIONS
inline u64 common(const u64* a, const u64* b, std::size_t words) {
  u64 total = 0;
  for (std::size_t k = 0; k < words; ++k) total += static_cast<u64>(std::popcount(a[k] & b[k]));
  return total;
}

struct Columns {
  std::size_t rows, words;
  std::vector<u32> cardinalities;
  std::vector<std::size_t> first;  // per variable, the number of its first set
  std::vector<u64> bits;

  // `codes` has the value of each row, variable by variable. The caller owns it.
  Columns(const std::int32_t* codes, std::size_t row_count, std::vector<u32> cards,
          unsigned threads)
      : rows(row_count),
        words((row_count + 63) / 64),
        cardinalities(std::move(cards)),
        codes_(codes) {
    std::size_t values = 0;
    for (const u32 card : cardinalities) {
      first.push_back(values);
      values += card;
    }
    bits.assign(values * words, 0);
    const Watch unwatched = [](std::size_t) { return true; };
    Runner(threads, unwatched).run(variables(), [&] {
      return [&](std::size_t v) {
        const std::int32_t* const column = codes + v * rows;
        for (std::size_t r = 0; r < rows; ++r)
          bits[(first[v] + static_cast<std::size_t>(column[r])) * words + r / 64] |= u64{1}
                                                                                     << r % 64;
      };
    });
  }

  std::size_t variables() const { return cardinalities.size(); }
  const u64* set(std::size_t variable, std::size_t value) const {
    return bits.data() + (first[variable] + value) * words;
  }
  const std::int32_t* code(std::size_t variable) const { return codes_ + variable * rows; }
  // Returns the number of values to test: one of two, all of more than two, none of a single one.
  std::size_t tests(std::size_t variable) const {
    const u32 card = cardinalities[variable];
    return card == 1 ? 0 : card == 2 ? 1 : card;
  }

 private:
  const std::int32_t* codes_;
};

}  // namespace contextwise::grow

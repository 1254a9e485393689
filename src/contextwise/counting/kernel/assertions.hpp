// What features answer to a sample of assertions: the compiled twin of counting/assertions.py.
//
// A sample is sorted by pair, and each pair owns a range of bits. For each value of each variable a
// row of bits says in which assertions the variable has this value. A feature answers for a pair of
// its scope with the conjunction of its other literals, over the words of the pair's range.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bigint.hpp"
#include "features.hpp"
#include "truth.hpp"

namespace contextwise {

struct Sample {
  std::vector<std::int64_t> cardinalities;
  const std::int64_t* pairs;   // two variables per pair, rising
  const std::int64_t* starts;  // one more than there are pairs
  std::size_t pair_count;
  const u64* holds;  // `words` words per value of each variable in turn
  std::size_t words;
  bool canonical;
};

class Answers {
 public:
  explicit Answers(const Sample& sample) : sample_(sample), n_(sample.cardinalities.size()) {
    for (std::int64_t cardinality : sample.cardinalities) {
      first_row_.push_back(rows_);
      rows_ += static_cast<std::size_t>(cardinality);
    }
    number_.assign(n_ * n_, NONE);
    for (std::size_t k = 0; k < sample.pair_count; ++k)
      number_[static_cast<std::size_t>(sample.pairs[2 * k]) * n_ +
              static_cast<std::size_t>(sample.pairs[2 * k + 1])] = static_cast<u32>(k);
  }

  // Sets the bit of every assertion that a feature makes a dependence, and notes the first that
  // does.
  void run(const FeatureArrays& model, u64* said, std::int64_t* first) {
    for (std::size_t f = 0; f < model.count; ++f) {
      const auto begin = static_cast<std::size_t>(model.starts[f]);
      const auto end = static_cast<std::size_t>(model.starts[f + 1]);
      for (std::size_t a = begin; a < end; ++a)
        for (std::size_t b = a + 1; b < end; ++b) {
          const u32 pair = number_[static_cast<std::size_t>(model.variables[a]) * n_ +
                                   static_cast<std::size_t>(model.variables[b])];
          if (pair != NONE) answer(model, f, a, b, pair, said, first);
        }
    }
  }

 private:
  static constexpr u32 NONE = ~u32{0};

  // The literals a and b are those of the pair; with full assignments they are tested, too.
  void answer(const FeatureArrays& model, std::size_t feature, std::size_t a, std::size_t b,
              u32 pair, u64* said, std::int64_t* first) const {
    const auto begin = static_cast<std::size_t>(model.starts[feature]);
    const auto end = static_cast<std::size_t>(model.starts[feature + 1]);
    const auto from = static_cast<std::size_t>(sample_.starts[pair]);
    const auto to = static_cast<std::size_t>(sample_.starts[pair + 1]);
    for (std::size_t word = from / 64; word * 64 < to; ++word) {
      u64 left = ~u64{0};
      if (word == from / 64) left &= ~u64{0} << from % 64;
      if ((word + 1) * 64 > to) left &= ~u64{0} >> (64 - to % 64);
      for (std::size_t l = begin; l < end && left; ++l)
        if (sample_.canonical || (l != a && l != b)) left &= holding(model, l, word);
      for (u64 fresh = left & ~said[word]; fresh; fresh &= fresh - 1)
        first[64 * word + static_cast<std::size_t>(std::countr_zero(fresh))] =
            static_cast<std::int64_t>(feature);
      said[word] |= left;
    }
  }

  // In which assertions of a word a literal holds: those with one of its values.
  u64 holding(const FeatureArrays& model, std::size_t literal, std::size_t word) const {
    const std::size_t row = first_row_[static_cast<std::size_t>(model.variables[literal])];
    const u64* values = model.values + literal * model.words;
    u64 found = 0;
    for (std::size_t k = 0; k < model.words; ++k)
      for (u64 bits = values[k]; bits; bits &= bits - 1) {
        const std::size_t value = 64 * k + static_cast<std::size_t>(std::countr_zero(bits));
        found |= sample_.holds[(row + value) * sample_.words + word];
      }
    return found;
  }

  const Sample& sample_;
  std::size_t n_, rows_ = 0;
  std::vector<std::size_t> first_row_;
  std::vector<u32> number_;  // of each pair of variables, or NONE
};

// In how many bits each row differs from each row of another table, in blocks that stay in the
// cache.
CONTEXTWISE_CLONES inline void count_differing(const u64* first, std::size_t first_rows,
                                               const u64* second, std::size_t second_rows,
                                               std::size_t words, std::int64_t* counts) {
  constexpr std::size_t BLOCK = 512;  // words
  std::fill_n(counts, first_rows * second_rows, 0);
  for (std::size_t at = 0; at < words; at += BLOCK) {
    const std::size_t end = std::min(words, at + BLOCK);
    for (std::size_t a = 0; a < first_rows; ++a)
      for (std::size_t b = 0; b < second_rows; ++b) {
        std::int64_t sum = 0;
        for (std::size_t k = at; k < end; ++k)
          sum += std::popcount(first[a * words + k] ^ second[b * words + k]);
        counts[a * second_rows + b] += sum;
      }
  }
}

}  // namespace contextwise

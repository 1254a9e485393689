// Evaluates a model on a sample of assertions: the compiled twin of counting/assertions.py.
//
// The assertions are sorted by pair, so each pair has a range of bits. For each value of each
// variable, a row of bits marks the assertions whose context has this value. A feature makes the
// pairs of its scope dependent where its other literals hold; these are the bits that the rows of
// its literals share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bigint.hpp"
#include "features.hpp"
#include "truth.hpp"

namespace contextwise {

struct Sample {
  std::vector<std::int64_t> cardinalities;
  const std::int64_t* pairs;   // two variables per pair, in rising order
  const std::int64_t* starts;  // first assertion of each pair, and the number of assertions
  std::size_t pair_count;
  const u64* holds;  // `words` words per value, variable by variable
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

  // Sets the bit of each assertion that is dependent, and stores the first feature that makes it
  // so.
  void run(const FeatureArrays& model, u64* answers, std::int64_t* first) {
    for (std::size_t f = 0; f < model.count; ++f) {
      const auto scope = model.covered(static_cast<u32>(f));
      // Without literals of the pair, `skipped` is beyond all literals.
      const auto skipped = model.pairs ? std::numeric_limits<std::size_t>::max() / 2
                                       : static_cast<std::size_t>(model.starts[f]);
      for (std::size_t a = 0; a < scope.size(); ++a)
        for (std::size_t b = a + 1; b < scope.size(); ++b) {
          const u32 pair =
              number_[static_cast<std::size_t>(scope[a]) * n_ + static_cast<std::size_t>(scope[b])];
          if (pair != NONE) answer(model, f, skipped + a, skipped + b, pair, answers, first);
        }
    }
  }

 private:
  static constexpr u32 NONE = ~u32{0};

  // Evaluates one feature for one pair. Literals a and b are those of the pair; they are tested
  // only if contexts are full assignments.
  void answer(const FeatureArrays& model, std::size_t feature, std::size_t a, std::size_t b,
              u32 pair, u64* answers, std::int64_t* first) const {
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
      for (u64 fresh = left & ~answers[word]; fresh; fresh &= fresh - 1)
        first[64 * word + static_cast<std::size_t>(std::countr_zero(fresh))] =
            static_cast<std::int64_t>(feature);
      answers[word] |= left;
    }
  }

  // Returns the assertions of a word in which a literal holds.
  u64 holding(const FeatureArrays& model, std::size_t literal, std::size_t word) const {
    const std::size_t row = first_row_[static_cast<std::size_t>(model.variables[literal])];
    const u64* values = model.values + literal * model.words;
    u64 assertions = 0;
    for (std::size_t k = 0; k < model.words; ++k)
      for (u64 bits = values[k]; bits; bits &= bits - 1) {
        const std::size_t value = 64 * k + static_cast<std::size_t>(std::countr_zero(bits));
        assertions |= sample_.holds[(row + value) * sample_.words + word];
      }
    return assertions;
  }

  const Sample& sample_;
  std::size_t n_, rows_ = 0;
  std::vector<std::size_t> first_row_;
  std::vector<u32> number_;  // number of each pair of variables, or NONE
};

}  // namespace contextwise

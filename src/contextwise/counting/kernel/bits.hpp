// Bit sets with a fixed number of words, or with any number of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "bigint.hpp"

namespace contextwise {

// Counts the bits that are set. Wheels cannot assume a popcount instruction; without one, this
// arithmetic is faster than the table of the standard library.
inline int ones(u64 word) {
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__POPCNT__)
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>(word * 0x0101010101010101u >> 56);
#else
  return std::popcount(word);
#endif
}

// The bits with even numbers. These are the first values of binary variables.
inline constexpr u64 EVEN = 0x5555555555555555u;

// Calls action(bit) for each bit that is set, in rising order.
template <class Action>
void for_each_bit(std::span<const u64> words, Action action) {
  for (std::size_t k = 0; k < words.size(); ++k)
    for (u64 word = words[k]; word; word &= word - 1)
      action(64 * k + static_cast<std::size_t>(std::countr_zero(word)));
}

// A set of W words. If W is 0, the constructor chooses the number of words.
template <int W>
struct Bits {
  using Words = std::conditional_t<W == 0, std::vector<u64>, std::array<u64, W == 0 ? 1 : W>>;
  Words words{};

  Bits() = default;
  explicit Bits([[maybe_unused]] std::size_t count) {
    if constexpr (W == 0) words.resize(count);
  }
  Bits(const u64* from, std::size_t count) : Bits(count) {
    std::copy(from, from + count, words.begin());
  }

  void set(std::size_t bit) { words[bit / 64] |= u64{1} << bit % 64; }
  bool has(std::size_t bit) const { return words[bit / 64] >> bit % 64 & 1; }
  bool none() const {
    u64 any = 0;
    for (u64 word : words) any |= word;
    return any == 0;
  }
  int count() const {
    int total = 0;
    for (u64 word : words) total += ones(word);
    return total;
  }
  // Tests whether exactly one bit is set.
  bool single() const {
    u64 seen = 0, more = 0;
    for (u64 word : words) {
      more |= (word & (word - 1)) | (seen && word);
      seen |= word;
    }
    return seen && !more;
  }
  // Returns the lowest bit. The set must not be empty.
  std::size_t lowest() const {
    std::size_t k = 0;
    while (k + 1 < words.size() && !words[k]) ++k;
    return 64 * k + static_cast<std::size_t>(std::countr_zero(words[k]));
  }
  void drop_lowest() {
    std::size_t k = 0;
    while (!words[k]) ++k;
    words[k] &= words[k] - 1;
  }
  bool meets(const Bits& other) const {
    u64 any = 0;
    for (std::size_t k = 0; k < words.size(); ++k) any |= words[k] & other.words[k];
    return any != 0;
  }
  bool inside(const Bits& other) const {
    u64 beyond = 0;
    for (std::size_t k = 0; k < words.size(); ++k) beyond |= words[k] & ~other.words[k];
    return beyond == 0;
  }
  Bits& operator&=(const Bits& other) {
    for (std::size_t k = 0; k < words.size(); ++k) words[k] &= other.words[k];
    return *this;
  }
  Bits& operator|=(const Bits& other) {
    for (std::size_t k = 0; k < words.size(); ++k) words[k] |= other.words[k];
    return *this;
  }
  Bits& operator^=(const Bits& other) {
    for (std::size_t k = 0; k < words.size(); ++k) words[k] ^= other.words[k];
    return *this;
  }
  // Removes the bits of the other set.
  Bits& operator-=(const Bits& other) {
    for (std::size_t k = 0; k < words.size(); ++k) words[k] &= ~other.words[k];
    return *this;
  }
  // Sets both bits of each pair (2k, 2k + 1) that has one.
  Bits& fill_twins() {
    for (u64& word : words) {
      const u64 either = (word | word >> 1) & EVEN;
      word = either | either << 1;
    }
    return *this;
  }
  // Swaps the two bits of each pair (2k, 2k + 1).
  Bits twins() const {
    Bits result = *this;
    for (u64& word : result.words) word = (word & EVEN) << 1 | (word >> 1 & EVEN);
    return result;
  }
  friend Bits operator&(Bits a, const Bits& b) { return a &= b; }
  friend Bits operator|(Bits a, const Bits& b) { return a |= b; }
  friend Bits operator-(Bits a, const Bits& b) { return a -= b; }
  friend bool operator==(const Bits&, const Bits&) = default;
};

template <int W, class Action>
void for_each_bit(const Bits<W>& bits, Action action) {
  for_each_bit(std::span<const u64>(bits.words), action);
}

}  // namespace contextwise

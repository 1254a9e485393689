// Sets of bits: a fixed number of words where the compiler may know it, any number otherwise.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "bigint.hpp"

namespace contextwise {

// W words; W = 0 means as many as are asked for.
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
    for (u64 word : words) total += std::popcount(word);
    return total;
  }
  // The lowest bit; there must be one.
  std::size_t lowest() const {
    std::size_t k = 0;
    while (!words[k]) ++k;
    return 64 * k + static_cast<std::size_t>(std::countr_zero(words[k]));
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
  // What is not in the other one.
  Bits& operator-=(const Bits& other) {
    for (std::size_t k = 0; k < words.size(); ++k) words[k] &= ~other.words[k];
    return *this;
  }
  friend Bits operator&(Bits a, const Bits& b) { return a &= b; }
  friend Bits operator|(Bits a, const Bits& b) { return a |= b; }
  friend Bits operator-(Bits a, const Bits& b) { return a -= b; }
  friend bool operator==(const Bits&, const Bits&) = default;
};

// Calls action(bit) for each bit, rising.
template <int W, class Action>
void for_each_bit(const Bits<W>& bits, Action action) {
  for (std::size_t k = 0; k < bits.words.size(); ++k)
    for (u64 word = bits.words[k]; word; word &= word - 1)
      action(64 * k + static_cast<std::size_t>(std::countr_zero(word)));
}

}  // namespace contextwise

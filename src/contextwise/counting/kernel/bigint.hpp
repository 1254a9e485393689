// Exact non-negative integers of any size. Wide<W> has a fixed number of 64-bit words and lives on
// the stack; nearly every cover fits into one or two words. Natural grows as needed. Both have the
// same interface, so the recursion is written once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace contextwise {

using u64 = std::uint64_t;
using u32 = std::uint32_t;

// Returns the low word of a * b + c and sets the high word. 128 bits cannot overflow.
inline u64 multiply_add(u64 a, u64 b, u64 c, u64& high) {
#ifdef __SIZEOF_INT128__
  __extension__ using u128 = unsigned __int128;
  const u128 product = static_cast<u128>(a) * b + c;
  high = static_cast<u64>(product >> 64);
  return static_cast<u64>(product);
#else
  const u64 mask = 0xffffffffu;
  const u64 low = (a & mask) * (b & mask);
  const u64 first = (a >> 32) * (b & mask) + (low >> 32);
  const u64 second = (a & mask) * (b >> 32) + (first & mask);
  const u64 result = (second << 32 | (low & mask)) + c;
  high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32) + (result < c);
  return result;
#endif
}

// Returns a + b + carry and sets the carry out.
inline u64 add_carry(u64 a, u64 b, u64& carry) {
  const u64 sum = a + b;
  const u64 result = sum + carry;
  carry = static_cast<u64>(sum < a) | static_cast<u64>(result < sum);
  return result;
}

inline u64 subtract_borrow(u64 a, u64 b, u64& borrow) {
  const u64 difference = a - b;
  const u64 result = difference - borrow;
  borrow = static_cast<u64>(a < b) | static_cast<u64>(difference < borrow);
  return result;
}

// An integer of at most 64 * W bits. No value exceeds the number of all contexts, and the caller
// chooses W large enough for it, so nothing overflows.
template <int W>
class Wide {
 public:
  Wide() = default;
  explicit Wide(u64 value) { words_[0] = value; }
  explicit Wide(std::span<const u64> words) { std::ranges::copy(words, words_.begin()); }

  std::span<const u64> words() const { return words_; }
  bool is_zero() const {
    u64 any = 0;
    for (u64 word : words_) any |= word;
    return any == 0;
  }
  Wide& operator+=(const Wide& other) {
    u64 carry = 0;
    for (int k = 0; k < W; ++k) words_[k] = add_carry(words_[k], other.words_[k], carry);
    return *this;
  }
  Wide& operator-=(const Wide& other) {
    u64 borrow = 0;
    for (int k = 0; k < W; ++k) words_[k] = subtract_borrow(words_[k], other.words_[k], borrow);
    return *this;
  }
  Wide& operator*=(const Wide& other) {
    std::array<u64, W> result{};
    for (int i = 0; i < W; ++i) {
      u64 carry = 0;
      for (int j = 0; i + j < W; ++j) {
        u64 high = 0;
        const u64 low = multiply_add(words_[i], other.words_[j], result[i + j], high);
        u64 extra = 0;
        result[i + j] = add_carry(low, carry, extra);
        carry = high + extra;
      }
    }
    words_ = result;
    return *this;
  }
  Wide& operator<<=(unsigned shift) {
    const int whole = static_cast<int>(shift / 64);
    const unsigned part = shift % 64;
    for (int k = W - 1; k >= 0; --k) {
      u64 word = k >= whole ? words_[k - whole] << part : 0;
      if (part && k > whole) word |= words_[k - whole - 1] >> (64 - part);
      words_[k] = word;
    }
    return *this;
  }
  friend bool operator==(const Wide&, const Wide&) = default;
  friend bool operator<(const Wide& a, const Wide& b) {
    for (int k = W - 1; k >= 0; --k)
      if (a.words_[k] != b.words_[k]) return a.words_[k] < b.words_[k];
    return false;
  }

 private:
  std::array<u64, W> words_{};
};

// A list of words. One word needs no memory of its own; most numbers have no more.
class Words {
 public:
  Words() = default;
  explicit Words(std::span<const u64> words) {
    resize(words.size());
    std::ranges::copy(words, begin());
  }
  Words(const Words& other) : Words(std::span(other.begin(), other.size_)) {}
  Words(Words&& other) noexcept = default;
  Words& operator=(const Words& other) {
    if (this == &other) return *this;
    resize(other.size_);
    std::copy_n(other.begin(), size_, begin());
    return *this;
  }
  Words& operator=(Words&& other) noexcept = default;

  u64* begin() { return many_ ? many_.get() : &one_; }
  const u64* begin() const { return many_ ? many_.get() : &one_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  u64 back() const { return begin()[size_ - 1]; }
  u64& operator[](std::size_t k) { return begin()[k]; }
  u64 operator[](std::size_t k) const { return begin()[k]; }
  void push_back(u64 word) {
    resize(size_ + 1);
    begin()[size_ - 1] = word;
  }
  void pop_back() { --size_; }
  // Adds zeros at the end, or removes words.
  void resize(std::size_t size) {
    if (size > std::max<std::size_t>(size_, 1)) {
      auto more = std::make_unique<u64[]>(size);
      std::copy_n(begin(), size_, more.get());
      many_ = std::move(more);
    } else if (size > size_) {
      *begin() = 0;
    }
    size_ = size;
  }

 private:
  u64 one_ = 0;                  // the word if there is one
  std::unique_ptr<u64[]> many_;  // used instead, once there were more
  std::size_t size_ = 0;
};

// An integer of any size, without leading zero words.
class Natural {
 public:
  Natural() = default;
  explicit Natural(u64 value) {
    if (value) words_.push_back(value);
  }
  explicit Natural(std::span<const u64> words) : words_(words) { trim(); }

  // Lowest word first.
  std::span<const u64> words() const { return {words_.begin(), words_.size()}; }
  bool is_zero() const { return words_.empty(); }
  bool is_one() const { return words_.size() == 1 && words_[0] == 1; }
  bool is_power_of_two() const {
    return !words_.empty() && std::has_single_bit(words_.back()) &&
           std::ranges::all_of(words().first(words_.size() - 1), [](u64 word) { return !word; });
  }
  std::size_t bits() const {
    return words_.empty() ? 0 : 64 * words_.size() - std::countl_zero(words_.back());
  }

  Natural& operator+=(const Natural& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    u64 carry = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
      words_[k] = add_carry(words_[k], k < other.words_.size() ? other.words_[k] : 0, carry);
    if (carry) words_.push_back(carry);
    return *this;
  }
  // The other number must not be larger.
  Natural& operator-=(const Natural& other) {
    u64 borrow = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
      words_[k] = subtract_borrow(words_[k], k < other.words_.size() ? other.words_[k] : 0, borrow);
    trim();
    return *this;
  }
  Natural& operator*=(u64 factor) {
    u64 carry = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
      words_[k] = multiply_add(words_[k], factor, carry, carry);
    if (carry) words_.push_back(carry);
    trim();
    return *this;
  }
  Natural& operator*=(const Natural& other) {
    if (other.words_.size() <= 1) return *this *= other.is_zero() ? 0 : other.words_[0];
    Words result;
    result.resize(words_.size() + other.words_.size());
    for (std::size_t i = 0; i < words_.size(); ++i) {
      u64 carry = 0;
      for (std::size_t j = 0; j < other.words_.size(); ++j) {
        u64 high = 0;
        const u64 low = multiply_add(words_[i], other.words_[j], result[i + j], high);
        u64 extra = 0;
        result[i + j] = add_carry(low, carry, extra);
        carry = high + extra;
      }
      result[i + other.words_.size()] = carry;
    }
    words_ = std::move(result);
    trim();
    return *this;
  }
  Natural& operator<<=(unsigned shift) {
    if (words_.empty() || !shift) return *this;
    const std::size_t whole = shift / 64;
    const unsigned part = shift % 64;
    if (whole) {
      words_.resize(words_.size() + whole);
      std::copy_backward(words_.begin(), words_.begin() + words_.size() - whole,
                         words_.begin() + words_.size());
      std::fill_n(words_.begin(), whole, 0);
    }
    if (part) {
      u64 carry = 0;
      for (std::size_t k = whole; k < words_.size(); ++k) {
        const u64 word = words_[k];
        words_[k] = word << part | carry;
        carry = word >> (64 - part);
      }
      if (carry) words_.push_back(carry);
    }
    return *this;
  }
  friend bool operator==(const Natural& a, const Natural& b) {
    return std::ranges::equal(a.words(), b.words());
  }
  friend bool operator<(const Natural& a, const Natural& b) {
    if (a.words_.size() != b.words_.size()) return a.words_.size() < b.words_.size();
    for (std::size_t k = a.words_.size(); k-- > 0;)
      if (a.words_[k] != b.words_[k]) return a.words_[k] < b.words_[k];
    return false;
  }

 private:
  void trim() {
    while (!words_.empty() && !words_.back()) words_.pop_back();
  }
  Words words_;
};

}  // namespace contextwise

// The hash function and the hash table of the kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "bigint.hpp"

namespace contextwise {

// Adds one word to a hash.
inline u64 mix(u64 hash, u64 word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

// Hashes a sequence of integers. The last step mixes the high bits of the last one into the low
// bits, which the table uses.
template <class Word>
u64 hash_of(std::span<const Word> words) {
  u64 hash = 0x9e3779b97f4a7c15u;
  for (Word word : words) hash = mix(hash, static_cast<u64>(word));
  return mix(hash, words.size());
}

// A hash table of numbers. A number refers to an item of the caller (a row, a cube, a record), and
// the caller's predicate compares items; the table stores the number and half of the hash. It uses
// open addressing with a power of two of slots, at most half of them full. Nothing is removed: the
// predicate rejects items that no longer exist.
class HashTable {
 public:
  static constexpr u32 NONE = ~u32{0};

  // Clears the table and makes room for `count` numbers.
  void reset(std::size_t count) {
    slots_.assign(std::bit_ceil(std::max<std::size_t>(2, 2 * count)), Slot{});
    used_ = 0;
  }

  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }
  // Returns the size after one more insertion.
  std::size_t bytes_after_insertion() const { return is_full() ? 2 * bytes() + SMALLEST : bytes(); }

  // Returns the number with this hash for which `same` is true, or NONE.
  template <class Same>
  u32 find(u64 hash, Same same) const {
    if (slots_.empty()) return NONE;
    const std::size_t mask = slots_.size() - 1;
    const auto tag = static_cast<u32>(hash);
    for (std::size_t at = tag & mask; slots_[at].number != NONE; at = (at + 1) & mask)
      if (slots_[at].tag == tag && same(slots_[at].number)) return slots_[at].number;
    return NONE;
  }

  void insert(u64 hash, u32 number) {
    if (is_full()) grow();
    ++used_;
    place({static_cast<u32>(hash), number});
  }

  // Returns the same as `find`. If that is NONE, inserts the number.
  template <class Same>
  u32 find_or_insert(u64 hash, u32 number, Same same) {
    if (is_full()) grow();
    const std::size_t mask = slots_.size() - 1;
    const auto tag = static_cast<u32>(hash);
    std::size_t at = tag & mask;
    for (; slots_[at].number != NONE; at = (at + 1) & mask)
      if (slots_[at].tag == tag && same(slots_[at].number)) return slots_[at].number;
    ++used_;
    slots_[at] = {tag, number};
    return NONE;
  }

 private:
  struct Slot {
    u32 tag = 0;  // low half of the hash: the first slot to try, and a quick comparison
    u32 number = NONE;
  };
  static constexpr std::size_t SMALLEST = 64 * sizeof(Slot);

  bool is_full() const { return 2 * (used_ + 1) > slots_.size(); }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? SMALLEST / sizeof(Slot) : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.number != NONE) place(slot);
  }

  void place(Slot slot) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = slot.tag & mask;
    while (slots_[at].number != NONE) at = (at + 1) & mask;
    slots_[at] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace contextwise

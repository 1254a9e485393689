// The one mixer and the one hash table of the kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "bigint.hpp"

namespace contextwise {

// A hash that has seen one more word.
inline u64 mix(u64 hash, u64 word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

// The hash of some integers in their order. The last step brings the high bits of the last one down
// to where the table looks.
template <class Word>
u64 hash_of(std::span<const Word> words) {
  u64 hash = 0x9e3779b97f4a7c15u;
  for (Word word : words) hash = mix(hash, static_cast<u64>(word));
  return mix(hash, words.size());
}

// Numbers found by their hash. What a number stands for (a row, a cube, a record) lives with the
// caller, who says whether it is the one looked for; the table keeps the number and half of its
// hash. Open addressing, a power of two of slots, at most half of them used. Nothing is removed: a
// number whose thing is gone is simply never the one looked for.
class HashTable {
 public:
  static constexpr u32 NONE = ~u32{0};

  // Forgets all; so many numbers fit before the table grows.
  void reset(std::size_t count) {
    slots_.assign(std::bit_ceil(std::max<std::size_t>(2, 2 * count)), Slot{});
    used_ = 0;
  }

  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }
  // The same after one more number.
  std::size_t bytes_after_insertion() const { return is_full() ? 2 * bytes() + SMALLEST : bytes(); }

  // The number that has this hash and is the same, or NONE.
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

  // What `find` finds; if that is NONE, the number is inserted.
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
    u32 tag = 0;  // the low half of the hash: where to begin, and a first comparison
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

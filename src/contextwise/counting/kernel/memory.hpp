// The memory of subproblems: exact keys, bounded size.
//
// A key is compared word for word; its hash only finds the place. When the memory is full, the
// older half of it is forgotten: there are two generations, new entries go to the young one, and a
// hit in the old one is carried over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "hashing.hpp"

namespace contextwise {

template <class N>
class Memory {
 public:
  using Key = std::span<const u64>;

  // All that is allocated stays within so many bytes. (While a generation moves to a larger place
  // both places are held for a moment, which is at most a quarter more.)
  explicit Memory(std::size_t bytes) : young_(bytes / 2), old_(bytes / 2) {}

  // The hash is hash_of the key.
  std::optional<N> find(Key key, u64 hash) {
    if (std::optional<N> found = young_.find(key, hash)) return found;
    std::optional<N> found = old_.find(key, hash);
    if (found) store(key, hash, *found);
    return found;
  }
  void store(Key key, u64 hash, const N& value) {
    if (young_.insert(key, hash, value)) return;
    std::swap(young_, old_);
    young_.clear();
    young_.insert(key, hash, value);
  }
  std::size_t bytes() const { return young_.bytes() + old_.bytes(); }

 private:
  // Records one after the other: the lengths of key and value, then the words of both. The table
  // has the place of each.
  class Generation {
   public:
    explicit Generation(std::size_t limit) : limit_(limit) {}

    std::size_t bytes() const { return table_.bytes() + words_.capacity() * sizeof(u64); }

    std::optional<N> find(Key key, u64 hash) const {
      const u32 at = table_.find(hash, [&](u32 place) { return has(place, key); });
      if (at == HashTable::NONE) return std::nullopt;
      const u64* const value = words_.data() + at + 1 + key.size();
      return N(std::span<const u64>(value, words_[at] >> 32));
    }

    // False if there is no room.
    bool insert(Key key, u64 hash, const N& value) {
      const std::span<const u64> number = value.words();
      if (!make_room(1 + key.size() + number.size())) return false;
      table_.insert(hash, static_cast<u32>(words_.size()));
      words_.push_back(u64{number.size()} << 32 | key.size());
      words_.insert(words_.end(), key.begin(), key.end());
      words_.insert(words_.end(), number.begin(), number.end());
      return true;
    }

    void clear() { *this = Generation(limit_); }

   private:
    bool has(u32 place, Key key) const {
      const u64* const record = words_.data() + place;
      return static_cast<u32>(*record) == key.size() &&
             std::equal(key.begin(), key.end(), record + 1);
    }

    // Takes twice the place when it is used up, or what the limit leaves.
    bool make_room(std::size_t more) {
      const std::size_t table = table_.bytes_after_insertion(), needed = words_.size() + more;
      if (table + words_.capacity() * sizeof(u64) > limit_ || needed >= HashTable::NONE)
        return false;
      if (needed <= words_.capacity()) return true;
      const std::size_t most = (limit_ - table) / sizeof(u64);
      if (needed > most) return false;
      words_.reserve(std::min(most, std::max<std::size_t>(needed, 2 * words_.capacity())));
      return true;
    }

    std::size_t limit_;
    HashTable table_;
    std::vector<u64> words_;
  };

  Generation young_, old_;
};

}  // namespace contextwise

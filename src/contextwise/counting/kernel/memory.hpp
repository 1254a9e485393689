// A cache of solved subproblems with exact keys and bounded size.
//
// Keys are compared word for word; the hash only finds the place. The cache has two generations.
// New entries go to the young one, and a hit in the old one is copied to the young one. When the
// young one is full, the old one is dropped.
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

  // Allocates at most this many bytes, and a quarter more while a generation is being enlarged.
  explicit Memory(std::size_t bytes) : young_(bytes / 2), old_(bytes / 2) {}

  // `hash` must be hash_of(key).
  std::optional<N> find(Key key, u64 hash) {
    if (std::optional<N> value = young_.find(key, hash)) return value;
    std::optional<N> value = old_.find(key, hash);
    if (value) store(key, hash, *value);
    return value;
  }
  void store(Key key, u64 hash, const N& value) {
    if (young_.insert(key, hash, value)) return;
    std::swap(young_, old_);
    young_.clear();
    young_.insert(key, hash, value);
  }
  std::size_t bytes() const { return young_.bytes() + old_.bytes(); }

 private:
  // A list of records: the lengths of key and value, then the words of both. The table has the
  // place of each record.
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

    // Returns false if there is no room.
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

    // Doubles the capacity when it is used up, within the limit.
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

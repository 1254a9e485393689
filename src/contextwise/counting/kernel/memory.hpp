// The memory of subproblems: exact keys, bounded size.
//
// A key is compared word for word; its hash only finds the place. When the memory is full, the
// older half of it is forgotten: there are two generations, new entries go to the young one, and a
// hit in the old one is carried over.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "bigint.hpp"

namespace contextwise {

inline u64 hash_words(const u64* words, std::size_t count) {
  u64 hash = 0x9e3779b97f4a7c15u ^ count;
  for (std::size_t k = 0; k < count; ++k) {
    hash = (hash ^ words[k]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash * 0xc4ceb9fe1a85ec53u ^ hash >> 29;
}

template <class N>
class Memory {
 public:
  explicit Memory(std::size_t bytes) : limit_(bytes / 2) {}

  // The hash is hash_words of the key.
  const N* find(const u64* key, std::size_t length, u64 hash) {
    if (const N* found = young_.find(key, length, hash)) return found;
    const N* found = old_.find(key, length, hash);
    if (!found) return nullptr;
    const N copy = *found;
    return store(key, length, hash, copy);
  }
  const N* store(const u64* key, std::size_t length, u64 hash, const N& value) {
    if (young_.bytes() + length * sizeof(u64) > limit_) {
      std::swap(young_, old_);
      young_ = Generation{};
    }
    return young_.insert(key, length, hash, value);
  }
 private:
  struct Entry {
    u64 hash;
    std::size_t at;
    u32 length;
  };
  struct Generation {
    std::vector<u32> table;  // entry + 1, or 0; a power of two of them
    std::vector<Entry> entries;
    std::vector<u64> keys;
    std::vector<N> values;

    std::size_t bytes() const {
      return table.size() * sizeof(u32) + entries.size() * (sizeof(Entry) + sizeof(N)) +
             keys.size() * sizeof(u64);
    }
    const N* find(const u64* key, std::size_t length, u64 hash) const {
      if (table.empty()) return nullptr;
      const std::size_t mask = table.size() - 1;
      for (std::size_t at = hash & mask; table[at]; at = (at + 1) & mask) {
        const Entry& entry = entries[table[at] - 1];
        if (entry.hash == hash && entry.length == length &&
            std::equal(key, key + length, keys.data() + entry.at))
          return &values[table[at] - 1];
      }
      return nullptr;
    }
    const N* insert(const u64* key, std::size_t length, u64 hash, const N& value) {
      if (2 * (entries.size() + 1) > table.size()) grow();
      entries.push_back({hash, keys.size(), static_cast<u32>(length)});
      keys.insert(keys.end(), key, key + length);
      values.push_back(value);
      place(hash, static_cast<u32>(entries.size()));
      return &values.back();
    }
    void grow() {
      table.assign(std::max<std::size_t>(64, 2 * table.size()), 0);
      for (u32 k = 0; k < entries.size(); ++k) place(entries[k].hash, k + 1);
    }
    void place(u64 hash, u32 entry) {
      const std::size_t mask = table.size() - 1;
      std::size_t at = hash & mask;
      while (table[at]) at = (at + 1) & mask;
      table[at] = entry;
    }
  };

  std::size_t limit_;
  Generation young_, old_;
};

}  // namespace contextwise

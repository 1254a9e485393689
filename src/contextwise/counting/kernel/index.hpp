// Which pairs of variables there are, and which claims have both variables of a pair.
#pragma once

#include "claims.hpp"

namespace contextwise {

// A set of pairs, numbered in rising order. A block holds up to 64 of them: one first variable, and
// a bit for each second one; blocks are found by hashing, so that the table is as large as the set
// and not as the square of the variables.
class PairTable {
 public:
  static constexpr u32 NONE = ~u32{0};

  PairTable() : blocks_(64) {}

  void add(u32 first, u32 second) { block(first, second / 64).bits |= u64{1} << second % 64; }

  // To be called when all pairs are in: from now on `find` knows their numbers.
  void number() {
    std::vector<Block*> order;
    for (Block& block : blocks_)
      if (block.bits) order.push_back(&block);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->key < b->key; });
    u32 before = 0;
    for (Block* block : order) {
      block->before = before;
      before += static_cast<u32>(ones(block->bits));
    }
  }

  // The number of a pair, or NONE.
  u32 find(u32 first, u32 second) const {
    const Block& block = blocks_[place(key_of(first, second / 64))];
    const u64 bit = u64{1} << second % 64;
    if (!(block.bits & bit)) return NONE;
    return block.before + static_cast<u32>(ones(block.bits & (bit - 1)));
  }

 private:
  struct Block {
    u64 key = 0;
    u64 bits = 0;  // none: the place is free
    u32 before = 0;
  };

  static u64 key_of(u32 first, u32 word) { return u64{first} << 32 | word; }

  // Where the block is, or would be.
  std::size_t place(u64 key) const {
    std::size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & (blocks_.size() - 1);
    while (blocks_[at].bits && blocks_[at].key != key) at = (at + 1) & (blocks_.size() - 1);
    return at;
  }

  // The block, which the caller puts a bit into.
  Block& block(u32 first, u32 word) {
    const u64 key = key_of(first, word);
    std::size_t at = place(key);
    if (blocks_[at].bits) return blocks_[at];
    if (2 * ++used_ > blocks_.size()) {
      std::vector<Block> old(2 * blocks_.size());
      old.swap(blocks_);
      for (const Block& block : old)
        if (block.bits) blocks_[place(block.key)] = block;
      at = place(key);
    }
    blocks_[at].key = key;
    return blocks_[at];
  }

  std::vector<Block> blocks_;  // a power of two of them
  std::size_t used_ = 0;
};

// The claims of each pair of a table, rising.
class PairIndex {
 public:
  PairIndex() = default;
  PairIndex(const Claims& claims, const PairTable& table, std::size_t pairs) : starts_(pairs + 1, 0) {
    std::vector<std::pair<u32, u32>> found;  // pair, claim
    std::size_t most = 0;
    for (u32 c = 0; c < claims.size(); ++c) most += claims.scope(c).size() * (claims.scope(c).size() - 1) / 2;
    found.reserve(most);
    for (u32 c = 0; c < claims.size(); ++c) {
      const std::span<const u32> scope = claims.scope(c);
      for (std::size_t i = 0; i < scope.size(); ++i)
        for (std::size_t j = i + 1; j < scope.size(); ++j) {
          const u32 pair = table.find(scope[i], scope[j]);
          if (pair == PairTable::NONE) continue;
          found.push_back({pair, c});
          ++starts_[pair + 1];
        }
    }
    for (std::size_t k = 0; k < pairs; ++k) starts_[k + 1] += starts_[k];
    claims_.resize(found.size());
    std::vector<std::size_t> at(starts_.begin(), starts_.end() - 1);
    for (const auto& [pair, claim] : found) claims_[at[pair]++] = claim;
  }

  std::span<const u32> claims(std::size_t pair) const {
    return {claims_.data() + starts_[pair], starts_[pair + 1] - starts_[pair]};
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<u32> claims_;
};

}  // namespace contextwise

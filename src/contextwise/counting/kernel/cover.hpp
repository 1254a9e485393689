// A cover: cubes as bit sets over value classes, and the reductions that keep its union.
//
// Variable v owns the bits start[v] .. start[v + 1], one a class of values. A cube is kept as the
// bits it *forbids*: it tests a variable if it forbids one of its bits, it is everything if it
// forbids nothing, and it lies inside another cube if it forbids all that the other one forbids.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "bits.hpp"

namespace contextwise {

struct Cover {
  std::vector<u32> start{0};     // one more than there are variables
  std::vector<Natural> weights;  // of each bit; empty if every bit weighs one
  std::vector<u64> cubes;        // words() words a cube
  std::vector<u32> names;        // what the caller calls each variable

  std::size_t variables() const { return start.size() - 1; }
  std::size_t bits() const { return start.back(); }
  std::size_t words() const { return std::max<std::size_t>(1, (bits() + 63) / 64); }
  std::size_t size() const { return cubes.size() / words(); }
  const u64* cube(std::size_t c) const { return cubes.data() + c * words(); }
  u64* cube(std::size_t c) { return cubes.data() + c * words(); }
  bool has(std::size_t c, std::size_t bit) const { return cube(c)[bit / 64] >> bit % 64 & 1; }
  Natural weight(std::size_t bit) const { return weights.empty() ? Natural(1) : weights[bit]; }
  Natural total(std::size_t variable) const {
    Natural sum;
    for (u32 bit = start[variable]; bit < start[variable + 1]; ++bit) sum += weight(bit);
    return sum;
  }
};

// Removes cubes that lie in others, and widens cubes by their neighbours: when C and D agree that
// D lies in C on every variable but x, the union keeps its size if D also allows what C allows of x.
// (In the words of clauses: subsumption and self-subsuming resolution.) A decision tree that
// splits on x and treats both sides alike loses the split here.
class Simplifier {
 public:
  explicit Simplifier(Cover& cover) : cover_(cover), words_(cover.words()) {
    variable_of_.resize(cover.bits());
    for (u32 v = 0; v < cover.variables(); ++v)
      std::fill(variable_of_.begin() + cover.start[v], variable_of_.begin() + cover.start[v + 1], v);
  }

  void run() {
    sort_by_size();
    const std::size_t count = cover_.size();
    alive_.assign(count, 1);
    queued_.assign(count, 1);
    queue_.resize(count);
    std::iota(queue_.begin(), queue_.end(), u32{0});
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const u32 c = queue_[at];
      queued_[c] = 0;
      if (alive_[c]) compare_with_all(c);
    }
    std::size_t kept = 0;
    for (std::size_t c = 0; c < count; ++c)
      if (alive_[c]) std::copy_n(cover_.cube(c), words_, cover_.cube(kept++));
    cover_.cubes.resize(kept * words_);
    sort_by_size();
  }

 private:
  // Short cubes first: they absorb the most. Equal covers end in equal order.
  void sort_by_size() {
    const std::size_t count = cover_.size();
    std::vector<std::pair<int, u32>> order(count);
    for (u32 c = 0; c < count; ++c) {
      int size = 0;
      for (std::size_t k = 0; k < words_; ++k) size += std::popcount(cover_.cube(c)[k]);
      order[c] = {size, c};
    }
    std::sort(order.begin(), order.end(), [&](const auto& x, const auto& y) {
      if (x.first != y.first) return x.first < y.first;
      const u64 *left = cover_.cube(x.second), *right = cover_.cube(y.second);
      return std::lexicographical_compare(left, left + words_, right, right + words_);
    });
    std::vector<u64> sorted;
    sorted.reserve(cover_.cubes.size());
    for (const auto& [size, c] : order)
      sorted.insert(sorted.end(), cover_.cube(c), cover_.cube(c) + words_);
    cover_.cubes = std::move(sorted);
  }

  void compare_with_all(u32 c) {
    for (u32 d = 0; d < cover_.size(); ++d) {
      if (d == c || !alive_[d]) continue;
      // What C forbids and D does not: nothing, or bits of one variable only?
      std::size_t word = 0;
      while (word < words_ && !(cover_.cube(c)[word] & ~cover_.cube(d)[word])) ++word;
      if (word == words_) {
        alive_[d] = 0;
        continue;
      }
      const u64 beyond = cover_.cube(c)[word] & ~cover_.cube(d)[word];
      const u32 variable = variable_of_[64 * word + std::countr_zero(beyond)];
      if (differ_only_in(c, d, variable) && widen(d, c, variable) && !queued_[d]) {
        queued_[d] = 1;
        queue_.push_back(d);
      }
    }
  }

  bool differ_only_in(u32 c, u32 d, u32 variable) const {
    for (std::size_t k = 0; k < words_; ++k) {
      const u64 field = field_word(variable, k);
      if (cover_.cube(c)[k] & ~cover_.cube(d)[k] & ~field) return false;
    }
    return true;
  }

  bool widen(u32 d, u32 c, u32 variable) {
    bool changed = false;
    for (std::size_t k = cover_.start[variable] / 64; k < words_; ++k) {
      const u64 field = field_word(variable, k);
      if (!field) break;
      const u64 gone = cover_.cube(d)[k] & field & ~cover_.cube(c)[k];
      changed |= gone != 0;
      cover_.cube(d)[k] &= ~gone;
    }
    return changed;
  }

  // The bits of a variable in word k.
  u64 field_word(u32 variable, std::size_t k) const {
    const std::size_t low = std::max<std::size_t>(cover_.start[variable], 64 * k);
    const std::size_t high = std::min<std::size_t>(cover_.start[variable + 1], 64 * k + 64);
    if (low >= high) return 0;
    const u64 ones = high - low == 64 ? ~u64{0} : (u64{1} << (high - low)) - 1;
    return ones << (low - 64 * k);
  }

  Cover& cover_;
  std::size_t words_;
  std::vector<u32> variable_of_;
  std::vector<char> alive_, queued_;
  std::vector<u32> queue_;
};

// The same cover over the classes its cubes tell apart: variables that no cube tests leave, and
// values that every cube treats alike become one bit with their weights added.
inline Cover compacted(const Cover& cover) {
  Cover result;
  std::vector<u32> moved(cover.bits(), ~u32{0});  // old bit -> new bit
  std::vector<Natural> weights;
  bool merged = !cover.weights.empty();
  for (u32 v = 0; v < cover.variables(); ++v) {
    const u32 first = cover.start[v], count = cover.start[v + 1] - first;
    std::vector<u32> of(count, 0);
    u32 classes = 1;
    for (std::size_t c = 0; c < cover.size() && classes < count; ++c) {
      std::vector<u32> split(classes, ~u32{0}), keep(classes, ~u32{0});
      u32 fresh = 0;
      for (u32 k = 0; k < count; ++k) {
        u32& place = cover.has(c, first + k) ? split[of[k]] : keep[of[k]];
        if (place == ~u32{0}) place = fresh++;
        of[k] = place;
      }
      classes = fresh;
    }
    if (classes == 1) continue;
    merged |= classes < count;
    const u32 base = result.start.back();
    weights.resize(base + classes);
    for (u32 k = 0; k < count; ++k) {
      moved[first + k] = base + of[k];
      weights[base + of[k]] += cover.weight(first + k);
    }
    result.start.push_back(base + classes);
    result.names.push_back(cover.names[v]);
  }
  if (merged && std::any_of(weights.begin(), weights.end(),
                            [](const Natural& w) { return !(w == Natural(1)); }))
    result.weights = std::move(weights);
  result.cubes.assign(cover.size() * result.words(), 0);
  for (std::size_t c = 0; c < cover.size(); ++c)
    for (u32 bit = 0; bit < cover.bits(); ++bit)
      if (moved[bit] != ~u32{0} && cover.has(c, bit))
        result.cube(c)[moved[bit] / 64] |= u64{1} << moved[bit] % 64;
  return result;
}

inline Cover reduced(Cover cover) {
  Simplifier(cover).run();
  return compacted(cover);
}

}  // namespace contextwise

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
  // Whether every variable has two classes, and both weigh one.
  bool is_binary() const {
    if (!weights.empty() || bits() != 2 * variables()) return false;
    for (std::size_t v = 0; v < variables(); ++v)
      if (start[v] != 2 * v) return false;
    return true;
  }
  Natural weight(std::size_t bit) const { return weights.empty() ? Natural(1) : weights[bit]; }
  Natural total(std::size_t variable) const {
    Natural sum;
    for (u32 bit = start[variable]; bit < start[variable + 1]; ++bit) sum += weight(bit);
    return sum;
  }
};

// The same cover over the classes its cubes tell apart: variables that no cube tests leave, and
// values that every cube treats alike become one bit with their weights added.
class Compaction {
 public:
  explicit Compaction(const Cover& cover) : cover_(cover), tested_(cover.words(), 0) {
    for (std::size_t c = 0; c < cover.size(); ++c)
      for (std::size_t k = 0; k < tested_.size(); ++k) tested_[k] |= cover.cube(c)[k];
  }

  Cover run() {
    if (untouched()) return cover_;
    moved_.assign(cover_.bits(), NONE);
    for (u32 v = 0; v < cover_.variables(); ++v)
      if (is_tested(v)) add(v);
    if (std::all_of(result_.weights.begin(), result_.weights.end(),
                    [](const Natural& weight) { return weight.is_one(); }))
      result_.weights.clear();
    move_cubes();
    return std::move(result_);
  }

 private:
  bool is_tested(u32 v) const {
    for (u32 bit = cover_.start[v]; bit < cover_.start[v + 1]; ++bit)
      if (tested_[bit / 64] >> bit % 64 & 1) return true;
    return false;
  }
  bool is_binary(u32 v) const { return cover_.start[v + 1] - cover_.start[v] == 2; }
  bool untouched() const {
    for (u32 v = 0; v < cover_.variables(); ++v)
      if (!is_binary(v) || !is_tested(v)) return false;
    return true;
  }

  // A binary variable that is tested has both its classes told apart; another one is looked at.
  void add(u32 v) {
    const u32 first = cover_.start[v], count = cover_.start[v + 1] - first;
    const u32 base = result_.start.back();
    std::vector<u32> of{0, 1};
    const u32 classes = is_binary(v) ? 2 : partition(v, of);
    for (u32 k = 0; k < count; ++k) moved_[first + k] = base + of[k];
    if (classes < count || !cover_.weights.empty()) {
      result_.weights.resize(base, Natural(1));
      result_.weights.resize(base + classes);
      for (u32 k = 0; k < count; ++k) result_.weights[base + of[k]] += cover_.weight(first + k);
    } else if (!result_.weights.empty()) {
      result_.weights.resize(base + classes, Natural(1));
    }
    result_.start.push_back(base + classes);
    result_.names.push_back(cover_.names[v]);
  }

  u32 partition(u32 v, std::vector<u32>& of) const {
    const u32 first = cover_.start[v], count = cover_.start[v + 1] - first;
    of.assign(count, 0);
    u32 classes = 1;
    std::vector<u32> inside(count), outside(count);
    for (std::size_t c = 0; c < cover_.size() && classes < count; ++c) {
      std::fill_n(inside.begin(), classes, NONE);
      std::fill_n(outside.begin(), classes, NONE);
      classes = 0;
      for (u32 k = 0; k < count; ++k) {
        u32& place = (cover_.has(c, first + k) ? inside : outside)[of[k]];
        if (place == NONE) place = classes++;
        of[k] = place;
      }
    }
    return classes;
  }

  void move_cubes() {
    const std::size_t words = result_.words();
    result_.cubes.assign(cover_.size() * words, 0);
    for (std::size_t c = 0; c < cover_.size(); ++c)
      for_each_bit({cover_.cube(c), cover_.words()}, [&](std::size_t old) {
        const u32 bit = moved_[old];
        result_.cubes[c * words + bit / 64] |= u64{1} << bit % 64;
      });
  }

  static constexpr u32 NONE = ~u32{0};
  const Cover& cover_;
  std::vector<u64> tested_;
  std::vector<u32> moved_;  // old bit -> new bit
  Cover result_;
};

inline Cover compacted(const Cover& cover) { return Compaction(cover).run(); }

}  // namespace contextwise

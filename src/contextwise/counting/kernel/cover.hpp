// A cover: cubes as bit sets over value classes.
//
// Variable v has the bits start[v] .. start[v + 1], one per class of values. Python's cover
// (counting/cover.py) stores the bits that a cube allows; the kernel stores those that it
// *forbids*. So a cube tests a variable if it has one of its bits, it covers everything if it has
// no bit, and it lies inside another cube if it has all bits of that cube.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "bits.hpp"
#include "refinement.hpp"

namespace contextwise {

struct Cover {
  std::vector<u32> start{0};     // first bit of each variable, and the number of bits
  std::vector<Natural> weights;  // of each bit; empty if all are one
  std::vector<u64> forbidden;    // words() words per cube
  std::vector<u32> names;        // the caller's number of each variable

  std::size_t variables() const { return start.size() - 1; }
  std::size_t bits() const { return start.back(); }
  std::size_t words() const { return std::max<std::size_t>(1, (bits() + 63) / 64); }
  std::size_t size() const { return forbidden.size() / words(); }
  // Returns the words that a cube forbids.
  const u64* cube(std::size_t c) const { return forbidden.data() + c * words(); }
  u64* cube(std::size_t c) { return forbidden.data() + c * words(); }
  bool forbids(std::size_t c, std::size_t bit) const { return cube(c)[bit / 64] >> bit % 64 & 1; }
  // Tests whether every variable has two classes of weight one.
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

// Rewrites a cover over fewer bits. It drops variables that no cube tests and joins classes that no
// cube distinguishes; their weights add up.
class Compaction {
 public:
  explicit Compaction(const Cover& cover) : cover_(cover), tested_(cover.words(), 0) {
    for (std::size_t c = 0; c < cover.size(); ++c)
      for (std::size_t k = 0; k < tested_.size(); ++k) tested_[k] |= cover.cube(c)[k];
  }

  Cover run() {
    if (untouched()) return cover_;
    std::vector<u32> tested;
    for (u32 v = 0; v < cover_.variables(); ++v)
      if (is_tested(v)) tested.push_back(v);
    return run(tested);
  }

  // Takes these variables, in this order. They must include all that a cube tests.
  Cover run(const std::vector<u32>& order) {
    moved_.assign(cover_.bits(), 0);
    for (u32 v : order) add(v);
    if (std::ranges::all_of(result_.weights, &Natural::is_one)) result_.weights.clear();
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

  // Adds a tested variable. Its classes can only join if there are more than two.
  void add(u32 v) {
    const u32 first = cover_.start[v], count = cover_.start[v + 1] - first;
    const u32 base = result_.start.back();
    std::vector<u32> of{0, 1};
    const u32 classes = is_binary(v) ? 2 : refine(v, of);
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

  u32 refine(u32 v, std::vector<u32>& of) const {
    const u32 first = cover_.start[v];
    Refinement classes(cover_.start[v + 1] - first);
    for (std::size_t c = 0; c < cover_.size() && !classes.finest(); ++c)
      classes.split([&](std::size_t k) { return cover_.forbids(c, first + k); });
    of = classes.of();
    return classes.count();
  }

  void move_cubes() {
    const std::size_t words = result_.words();
    result_.forbidden.assign(cover_.size() * words, 0);
    for (std::size_t c = 0; c < cover_.size(); ++c)
      for_each_bit({cover_.cube(c), cover_.words()}, [&](std::size_t old) {
        const u32 bit = moved_[old];
        result_.forbidden[c * words + bit / 64] |= u64{1} << bit % 64;
      });
  }

  const Cover& cover_;
  std::vector<u64> tested_;
  std::vector<u32> moved_;  // old bit -> new bit
  Cover result_;
};

inline Cover compacted(const Cover& cover) { return Compaction(cover).run(); }

}  // namespace contextwise

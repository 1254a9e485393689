// The merged features of a model. A merged feature has a scope and a cube: each pair of the scope
// is dependent wherever the cube, without the pair, holds.
//
// The cube of a feature tests its whole scope. Two features of the same scope that differ in one
// variable x are merged into one that allows the values of x that either allows. This is exact: a
// pair with x drops x anyway, and for other pairs the two cubes unite. It turns the rows of a
// table, or the leaves below the last split of a decision tree, into few merged features before any
// pair is counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "features.hpp"
#include "hashing.hpp"
#include "steps.hpp"

namespace contextwise {

struct MergedFeatures {
  std::vector<u32> scope_start{0}, scopes;
  std::vector<u32> start{0}, variables;  // the variables that each cube tests
  std::vector<u64> forbidden;  // the classes that each test forbids, `stride` words per test
  std::size_t stride = 1;

  std::size_t size() const { return start.size() - 1; }
  std::span<const u32> scope(u32 feature) const {
    return {scopes.data() + scope_start[feature], scope_start[feature + 1] - scope_start[feature]};
  }
  std::span<const u32> tests(u32 feature) const {
    return {variables.data() + start[feature], start[feature + 1] - start[feature]};
  }
  // Returns the words of all tests of a feature.
  std::span<const u64> forbidden_by(u32 feature) const {
    return {forbidden.data() + start[feature] * stride,
            (start[feature + 1] - start[feature]) * stride};
  }
  // Adds a feature without merging it. Returns its number.
  u32 add(const FeatureArrays& model, u32 feature, const ValueClasses& classes) {
    std::size_t literal = model.begin(feature);
    for (const std::int32_t variable : model.covered(feature))
      scopes.push_back(static_cast<u32>(variable));
    for (const std::int32_t variable : model.scope(feature)) {
      const auto v = static_cast<u32>(variable);
      variables.push_back(v);
      forbidden.resize(forbidden.size() + stride, 0);
      classes.forbid(v, model.value_set(literal++), forbidden.data() + forbidden.size() - stride);
    }
    scope_start.push_back(static_cast<u32>(scopes.size()));
    start.push_back(static_cast<u32>(variables.size()));
    return static_cast<u32>(size() - 1);
  }
  // Adds a copy of another feature with the same stride.
  void append(const MergedFeatures& others, u32 feature) {
    const auto scope = others.scope(feature), tests = others.tests(feature);
    scopes.insert(scopes.end(), scope.begin(), scope.end());
    scope_start.push_back(static_cast<u32>(scopes.size()));
    variables.insert(variables.end(), tests.begin(), tests.end());
    start.push_back(static_cast<u32>(variables.size()));
    const auto sets = others.forbidden_by(feature);
    forbidden.insert(forbidden.end(), sets.begin(), sets.end());
  }
};

// Makes the merged features of a model. It merges features scope by scope, and within a scope
// variable by variable.
class FeatureMerger {
 public:
  FeatureMerger(const RelevantFeatures& model, const ValueClasses& classes)
      : model_(model), classes_(classes), stride_(classes.stride()) {}

  MergedFeatures run() {
    group_by_scope();
    merged_.stride = stride_;
    for (u32 first : firsts_) {
      load(first);
      if (uses(Step::MERGING)) merge();
      emit(first);
    }
    return std::move(merged_);
  }

 private:
  static constexpr u32 NONE = HashTable::NONE;

  // Features are numbered by their place in model_.features.
  std::span<const std::int32_t> scope_of(u32 place) const {
    return model_.arrays.scope(model_.features[place]);
  }

  std::span<const std::int32_t> covered_by(u32 place) const {
    return model_.arrays.covered(model_.features[place]);
  }

  // Links the features that test the same scope and cover the same pairs into a chain from firsts_
  // through next_.
  void group_by_scope() {
    const auto count = static_cast<u32>(model_.features.size());
    table_.reset(count);
    std::vector<u32> last(count);
    next_.assign(count, NONE);
    for (u32 f = 0; f < count; ++f) {
      const auto scope = scope_of(f);
      const u32 first = table_.find_or_insert(
          hash_of(scope) ^ (model_.arrays.pairs ? mix(1, hash_of(covered_by(f))) : 0), f,
          [&](u32 g) {
            return std::ranges::equal(scope_of(g), scope) &&
                   (!model_.arrays.pairs || std::ranges::equal(covered_by(g), covered_by(f)));
          });
      if (first == NONE)
        firsts_.push_back(f);
      else
        next_[last[first]] = f;
      last[first == NONE ? f : first] = f;
    }
  }

  // Loads the cubes of one scope as rows of cells, one cell of `stride` words per variable.
  void load(u32 first) {
    width_ = scope_of(first).size();
    rows_.clear();
    cells_.clear();
    hashes_.clear();
    for (u32 f = first; f != NONE; f = next_[f]) {
      const std::size_t begin = model_.arrays.begin(model_.features[f]), base = rows_.size();
      rows_.resize(base + width_ * stride_, 0);
      for (std::size_t x = 0; x < width_; ++x)
        classes_.forbid(static_cast<u32>(scope_of(f)[x]), model_.arrays.value_set(begin + x),
                        rows_.data() + base + x * stride_);
      hashes_.push_back(0);
    }
    alive_.assign(hashes_.size(), 1);
    left_ = hashes_.size();
    if (left_ == 1) return;
    for (u32 r = 0; r < hashes_.size(); ++r)
      for (std::size_t x = 0; x < width_; ++x) {
        cells_.push_back(hash_of_cell(r, x));
        hashes_[r] ^= cells_.back();
      }
  }

  u64* cell(u32 row, std::size_t x) { return rows_.data() + (row * width_ + x) * stride_; }
  u64 hash_of_cell(u32 row, std::size_t x) {
    u64 hash = x + 1;
    for (std::size_t k = 0; k < stride_; ++k) hash = mix(hash, cell(row, x)[k]);
    return hash;
  }

  // Merges until no variable lets two rows unite.
  void merge() {
    std::size_t x = 0;
    for (std::size_t quiet = 0; quiet < width_ && left_ > 1; x = (x + 1) % width_)
      quiet = merge_on(x) ? 0 : quiet + 1;
  }

  // Unites rows that are equal except in variable x. The hash of a row is the XOR of the hashes of
  // its cells, so one XOR gives the hash without x.
  bool merge_on(std::size_t x) {
    const std::size_t before = left_;
    table_.reset(left_);
    for (u32 r = 0; r < alive_.size(); ++r) {
      if (!alive_[r]) continue;
      const u64 others = hashes_[r] ^ cells_[r * width_ + x];
      const u32 partner =
          table_.find_or_insert(others, r, [&](u32 other) { return alike(other, r, x, others); });
      if (partner != NONE) unite(partner, r, x);
    }
    return left_ < before;
  }

  void unite(u32 into, u32 gone, std::size_t x) {
    for (std::size_t k = 0; k < stride_; ++k) cell(into, x)[k] &= cell(gone, x)[k];
    u64& hash = cells_[into * width_ + x];
    hashes_[into] ^= hash;
    hash = hash_of_cell(into, x);
    hashes_[into] ^= hash;
    alive_[gone] = 0;
    --left_;
  }

  // Tests whether two rows are equal except in variable x.
  bool alike(u32 a, u32 b, std::size_t x, u64 others) {
    return (hashes_[a] ^ cells_[a * width_ + x]) == others &&
           std::equal(cell(a, 0), cell(a, x), cell(b, 0)) &&
           std::equal(cell(a, x + 1), cell(a, width_), cell(b, x + 1));
  }

  void emit(u32 first) {
    const auto scope = scope_of(first), covered = covered_by(first);
    for (u32 r = 0; r < alive_.size(); ++r) {
      if (!alive_[r]) continue;
      merged_.scopes.insert(merged_.scopes.end(), covered.begin(), covered.end());
      merged_.scope_start.push_back(static_cast<u32>(merged_.scopes.size()));
      for (std::size_t x = 0; x < width_; ++x) {
        const u64* const set = cell(r, x);
        if (std::all_of(set, set + stride_, [](u64 word) { return word == 0; })) continue;
        merged_.variables.push_back(static_cast<u32>(scope[x]));
        merged_.forbidden.insert(merged_.forbidden.end(), set, set + stride_);
      }
      merged_.start.push_back(static_cast<u32>(merged_.variables.size()));
    }
  }

  const RelevantFeatures& model_;
  const ValueClasses& classes_;
  std::size_t stride_;
  std::vector<u32> firsts_, next_;
  MergedFeatures merged_;
  // State of the current scope.
  std::size_t width_ = 0, left_ = 0;
  std::vector<u64> rows_, cells_, hashes_;  // cells_, hashes_: hash of each cell and of each row
  std::vector<char> alive_;
  HashTable table_;
};

}  // namespace contextwise

// Computes the distances between many models: between all of them, or between two groups.
//
// For each pair of variables, models whose features make the same cover form a class. Each class
// and each pair of classes is counted once, and the difference is added to the distances of their
// models. So similar models cost little. Covers are compared exactly, not by their hashes.
//
// The memory holds the features of all models, the distances, and the covers of one pair per
// thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "cover.hpp"
#include "cover_source.hpp"
#include "feature_pool.hpp"
#include "features.hpp"
#include "hashing.hpp"
#include "interval.hpp"
#include "tables.hpp"
#include "threads.hpp"
#include "unions.hpp"

namespace contextwise {

// Numbers the wanted distances. If there are rows, they are those between the first `rows` models
// and the others; otherwise those between all models.
class Cells {
 public:
  Cells(std::size_t models, std::size_t rows) : models_(models), rows_(rows) {}

  std::size_t count() const {
    return rows_ ? rows_ * (models_ - rows_) : models_ * (models_ - 1) / 2;
  }
  bool is_row(std::size_t model) const { return !rows_ || model < rows_; }
  bool is_column(std::size_t model) const { return !rows_ || model >= rows_; }
  bool each_to_each() const { return !rows_; }
  // Returns the number of the distance between two models.
  std::size_t of(std::size_t row, std::size_t column) const {
    if (rows_) return row * (models_ - rows_) + column - rows_;
    if (row > column) std::swap(row, column);
    return row * (2 * models_ - row - 1) / 2 + column - row - 1;
  }

 private:
  std::size_t models_, rows_;
};

// Exact sums of equal width, one per cell.
class Sums {
 public:
  Sums(std::size_t cells, std::size_t width) : width_(width), words_(cells * width, 0) {}

  // Adds a multiple of a number. The caller chooses the width so that the sum fits.
  void add(std::size_t cell, const Natural& number, u64 times) {
    u64* const sum = words_.data() + cell * width_;
    u64 carry = 0;
    std::size_t k = 0;
    for (u64 word : number.words()) {
      u64 high = 0, over = 0;
      const u64 low = multiply_add(word, times, carry, high);
      sum[k] = add_carry(sum[k], low, over);
      carry = high + over;
      ++k;
    }
    for (; carry; ++k) {
      u64 over = 0;
      sum[k] = add_carry(sum[k], carry, over);
      carry = over;
    }
  }

  const std::vector<u64>& words() const { return words_; }

 private:
  std::size_t width_;
  std::vector<u64> words_;
};

// Groups the models into classes that make the same cover of one pair.
class PairClasses {
 public:
  PairClasses(const FeaturePool& pool, const Cells& cells) : pool_(pool), cells_(cells) {}

  // Returns false if all models are in one class.
  bool run(std::size_t place, UnionCounter& counter, const Budget& budget) {
    group_by_features(place);
    if (groups() == 1) return false;
    extract(counter);
    // Tables of unsimplified covers cost less than simplifying them.
    has_tables_ = tables_.fill(first_covers(groups()));
    if (has_tables_) {
      group_by([&](std::size_t g) -> std::vector<u64>& { return tables_.words(g); });
    } else {
      for (std::size_t g = 0; g < groups(); ++g) {
        counter.simplify(covers_[g], budget);
        sort_cubes(covers_[g]);
      }
      group_by([&](std::size_t g) -> std::vector<u64>& { return covers_[g].forbidden; });
      has_tables_ = count_ > 1 && tables_.fill(first_covers(count_));
    }
    collect();
    return count_ > 1;
  }

  std::size_t count() const { return count_; }
  // Returns the truth tables of the classes, or null if they would be too large.
  const CoverTables* tables() const { return has_tables_ ? &tables_ : nullptr; }
  // Returns the cover of a class, if there are no tables.
  const Cover& cover(std::size_t k) const { return covers_[k]; }
  // Return the models of a class that are rows and those that are columns.
  const std::vector<u32>& rows(std::size_t k) const { return rows_[k]; }
  const std::vector<u32>& columns(std::size_t k) const { return columns_[k]; }

 private:
  std::span<const u32> features_of(std::size_t group) const {
    return {flat_.data() + starts_[group], starts_[group + 1] - starts_[group]};
  }

  // Groups the models that have the same features on the pair.
  void group_by_features(std::size_t place) {
    flat_.clear();
    starts_.assign(1, 0);
    group_of_.clear();
    table_.reset(16);
    for (std::size_t m = 0; m < pool_.models(); ++m) {
      const std::size_t begin = flat_.size();
      pool_.append(m, place, flat_);
      const std::span<const u32> mine(flat_.data() + begin, flat_.size() - begin);
      const auto next = static_cast<u32>(starts_.size() - 1);
      const u32 known = table_.find_or_insert(
          hash_of(mine), next, [&](u32 g) { return std::ranges::equal(features_of(g), mine); });
      group_of_.push_back(known == HashTable::NONE ? next : known);
      if (known == HashTable::NONE)
        starts_.push_back(flat_.size());
      else
        flat_.resize(begin);
    }
  }

  std::size_t groups() const { return starts_.size() - 1; }

  void extract(UnionCounter& counter) {
    parts_.clear();
    for (std::size_t g = 0; g < groups(); ++g)
      parts_.push_back({&pool_.features(), features_of(g)});
    if (covers_.size() < groups()) covers_.resize(groups());
    counter.extract(parts_, {covers_.data(), groups()});
  }

  std::span<const Cover* const> first_covers(std::size_t count) {
    chosen_.clear();
    for (std::size_t k = 0; k < count; ++k) chosen_.push_back(&covers_[k]);
    return chosen_;
  }

  // Puts groups with equal words (of a table or of sorted cubes) into one class, and moves the
  // words of the classes to the front.
  template <class Words>
  void group_by(Words words) {
    table_.reset(groups());
    class_of_.clear();
    count_ = 0;
    for (std::size_t g = 0; g < groups(); ++g) {
      const auto next = static_cast<u32>(count_);
      const u32 known = table_.find_or_insert(hash_of(std::span<const u64>(words(g))), next,
                                              [&](u32 k) { return words(k) == words(g); });
      class_of_.push_back(known == HashTable::NONE ? next : known);
      if (known != HashTable::NONE) continue;
      if (g != count_) words(count_).swap(words(g));
      ++count_;
    }
  }

  // Collects the models of each class.
  void collect() {
    rows_.assign(count_, {});
    columns_.assign(count_, {});
    for (u32 m = 0; m < group_of_.size(); ++m) {
      const u32 k = class_of_[group_of_[m]];
      if (cells_.is_row(m)) rows_[k].push_back(m);
      if (cells_.is_column(m)) columns_[k].push_back(m);
    }
  }

  // Sorts the cubes, so that equal sets of cubes have equal words.
  void sort_cubes(Cover& cover) {
    const std::size_t words = cover.words();
    order_.resize(cover.size());
    std::iota(order_.begin(), order_.end(), u32{0});
    std::sort(order_.begin(), order_.end(), [&](u32 a, u32 b) {
      return std::lexicographical_compare(cover.cube(a), cover.cube(a) + words, cover.cube(b),
                                          cover.cube(b) + words);
    });
    sorted_.clear();
    for (u32 c : order_) sorted_.insert(sorted_.end(), cover.cube(c), cover.cube(c) + words);
    cover.forbidden.swap(sorted_);
  }

  const FeaturePool& pool_;
  const Cells& cells_;
  HashTable table_;
  std::vector<u32> flat_;            // features of all groups
  std::vector<std::size_t> starts_;  // start of each group in flat_
  std::vector<u32> group_of_;        // of each model
  std::vector<u32> class_of_;        // of each group
  std::vector<PairFeatures> parts_;
  std::vector<Cover> covers_;  // of the groups, later of the classes
  CoverTables tables_;         // of the same, if they are small enough
  bool has_tables_ = false;
  std::size_t count_ = 0;  // number of classes
  std::vector<std::vector<u32>> rows_, columns_;
  // Scratch space.
  std::vector<const Cover*> chosen_;
  std::vector<u32> order_;
  std::vector<u64> sorted_;
};

struct DistanceOptions {
  bool canonical = false;
  unsigned threads = 1;
  Clock::time_point deadline = Clock::time_point::max();
  std::size_t memory = std::size_t{512} << 20;  // bytes of cached subproblems, over all threads
};

class DistanceCounter {
 public:
  // The pairs must be distinct and in rising order. `factors` multiply the contexts of each pair;
  // empty if all are one.
  DistanceCounter(const ManyModels& models, std::size_t rows, std::vector<Pair> pairs,
                  std::vector<Natural> factors, const DistanceOptions& options)
      : pairs_(std::move(pairs)),
        factors_(std::move(factors)),
        options_(options),
        cells_(models.arrays.size(), rows),
        pool_(models, pairs_),
        sums_(cells_.count(), width()) {}

  // Counts all pairs. A few times a second it calls `watch` with the number of finished pairs, from
  // the calling thread. When `watch` returns false, the work stops.
  void run(const std::function<bool(std::size_t)>& watch) {
    const WatchedThreads::Work work = [this] { this->work(); };
    const WatchedThreads::Watch look = [&] { return watch(done_); };
    WatchedThreads(stop_, work, look).run(std::min<std::size_t>(options_.threads, pairs_.size()));
  }

  // Returns the distances; call it if the work is finished.
  const Sums& sums() const { return sums_; }
  // Returns the number of words of a distance: enough if all models differ on all contexts.
  std::size_t width() const {
    Natural largest = pool_.classes().whole();
    largest *= static_cast<u64>(pairs_.size());
    return largest.bits() / 64 + 1;
  }
  // Returns the limit of the numbers; see ValueClasses.
  u32 limit() const { return pool_.classes().limit(); }
  // Returns whether all pairs were counted.
  bool finished() const { return done_ == pairs_.size(); }

 private:
  static constexpr std::size_t BATCH = 1024;

  // Two classes differ in `times` times `number` contexts.
  struct Apart {
    std::size_t first, second;
    Natural number;
    u64 times;
  };
  // Memory that a thread reuses from pair to pair.
  struct Scratch {
    UnionCounter counter;
    PairClasses classes;
    std::vector<Interval<Natural>> sizes;
    std::vector<Apart> apart;
  };

  void work() {
    Scratch scratch{UnionCounter(pool_.classes(), options_.canonical,
                                 options_.memory / std::max(1u, options_.threads)),
                    PairClasses(pool_, cells_),
                    {},
                    {}};
    const Budget budget{Budget::UNLIMITED, options_.deadline, &stop_};
    for (std::size_t at = next_++; at < pairs_.size() && !budget.is_over(); at = next_++) {
      scratch.counter.begin(pairs_[at]);
      if (scratch.classes.run(at, scratch.counter, budget)) {
        if (const CoverTables* tables = scratch.classes.tables())
          by_tables(at, scratch, *tables);
        else
          by_unions(at, scratch, budget);
        deliver(scratch);
      }
      if (!stop_) ++done_;
    }
  }

  Natural factor(std::size_t at) const { return factors_.empty() ? Natural(1) : factors_[at]; }

  template <class Action>
  void for_each_two(Scratch& scratch, Action action) {
    const PairClasses& classes = scratch.classes;
    const auto wanted = [&](std::size_t a, std::size_t b) {
      return !classes.rows(a).empty() && !classes.columns(b).empty();
    };
    for (std::size_t a = 0; a < classes.count() && !stop_; ++a)
      for (std::size_t b = a + 1; b < classes.count() && !stop_; ++b)
        if (wanted(a, b) || wanted(b, a)) action(a, b);
  }

  void by_tables(std::size_t at, Scratch& scratch, const CoverTables& tables) {
    Natural one = scratch.counter.with_others(factor(at), tables.names());
    for_each_two(scratch, [&](std::size_t a, std::size_t b) {
      add(scratch, {a, b, one, tables.differing(a, b)});
    });
  }

  void by_unions(std::size_t at, Scratch& scratch, const Budget& budget) {
    Interval<Natural> unknown;
    unknown.gap = scratch.counter.contexts();
    scratch.sizes.assign(scratch.classes.count(), unknown);
    for_each_two(scratch, [&](std::size_t a, std::size_t b) {
      PairSizes bounds{{scratch.sizes[a], scratch.sizes[b], unknown}, true};
      scratch.counter.run(scratch.classes.cover(a), scratch.classes.cover(b), budget, bounds);
      scratch.sizes[a] = bounds.sizes[0];
      scratch.sizes[b] = bounds.sizes[1];
      if (!bounds.closed()) {  // the deadline has passed
        stop_ = true;
        return;
      }
      Natural apart = bounds.sizes[2].low;
      apart <<= 1;
      apart -= bounds.sizes[0].low;
      apart -= bounds.sizes[1].low;
      if (!factors_.empty()) apart *= factors_[at];
      add(scratch, {a, b, std::move(apart), 1});
    });
  }

  void add(Scratch& scratch, Apart apart) {
    scratch.apart.push_back(std::move(apart));
    if (scratch.apart.size() == BATCH) deliver(scratch);
  }

  // Adds the results of a thread to the distances of the models.
  void deliver(Scratch& scratch) {
    const std::lock_guard lock(mutex_);
    for (const auto& [a, b, number, times] : scratch.apart)
      for_each_cell(scratch.classes, a, b, [&](std::size_t cell) {
        if (times) sums_.add(cell, number, times);
      });
    scratch.apart.clear();
  }

  template <class Action>
  void for_each_cell(const PairClasses& classes, std::size_t a, std::size_t b,
                     Action action) const {
    for (u32 row : classes.rows(a))
      for (u32 column : classes.columns(b)) action(cells_.of(row, column));
    if (cells_.each_to_each()) return;
    for (u32 row : classes.rows(b))
      for (u32 column : classes.columns(a)) action(cells_.of(row, column));
  }

  std::vector<Pair> pairs_;
  std::vector<Natural> factors_;
  DistanceOptions options_;
  Cells cells_;
  FeaturePool pool_;
  Sums sums_;
  std::mutex mutex_;  // protects sums_
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace contextwise

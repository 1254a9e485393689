// Computes the distance from one model to many draws of a second one, pair by pair. The draws
// differ only in their value sets, like the guesses of a chance level.
//
// All draws have the same scopes. So the features on a pair and the variables they test are found
// once, and the cover of the first model is made, simplified and counted once. If few binary
// variables are tested, each draw is counted by truth table, otherwise as in a comparison. Cubes
// with random values seldom unite or contain each other, so simplifying gains little, and tables
// pay up to more variables than in the recursion.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "bigint.hpp"
#include "budget.hpp"
#include "classes.hpp"
#include "cover.hpp"
#include "cover_source.hpp"
#include "features.hpp"
#include "index.hpp"
#include "interval.hpp"
#include "merged_features.hpp"
#include "pairs.hpp"
#include "threads.hpp"
#include "truth.hpp"
#include "unions.hpp"

namespace contextwise {

// Truth tables over the binary variables that some features on a pair test.
class FeatureTables {
 public:
  explicit FeatureTables(const ValueClasses& classes)
      : classes_(classes), counts_(classes.variables(), 0), places_(classes.variables(), NONE) {}

  // Finds the tested variables, except those in `without`. Returns false if a table does not pay.
  bool begin(std::span<const PairFeatures> models, std::span<const u32> without) {
    for (u32 v : names_) counts_[v] = 0, places_[v] = NONE;
    names_.clear();
    for (const auto& [model, features] : models)
      for (u32 c : features)
        for (u32 v : model->tests(c)) {
          if (std::ranges::find(without, v) != without.end() || counts_[v]++) continue;
          if (names_.size() == MOST || classes_.count(v) != 2 || !classes_.unit(v)) {
            counts_[v] = 0;
            return false;
          }
          names_.push_back(v);
        }
    // A cube is written once per choice of the high variables that it does not test. So the
    // variables that most cubes test come last.
    std::ranges::stable_sort(names_, {}, [&](u32 v) { return counts_[v]; });
    for (u32 k = 0; k < names_.size(); ++k) places_[names_[k]] = k;
    return true;
  }

  std::span<const u32> names() const { return names_; }
  int variables() const { return static_cast<int>(names_.size()); }

  // Fills the table of the features of one model.
  void fill(const PairFeatures& pair, std::vector<u64>& table) {
    small_.clear();
    for (u32 c : pair.features) {
      SmallCube& cube = small_.emplace_back();
      const u64* forbidden = pair.model->forbidden_by(c).data();
      for (u32 v : pair.model->tests(c)) {
        if (places_[v] != NONE) cube.test(places_[v], *forbidden & 1);
        forbidden += pair.model->stride;
      }
    }
    fill_table(small_.data(), small_.size(), variables(), table);
  }

 private:
  static constexpr u32 NONE = ~u32{0};
  // Measured on redrawn value sets of plants: 16 and 20 take about 8 % longer, 14 about 15 %.
  static constexpr std::size_t MOST = 18;

  const ValueClasses& classes_;
  std::vector<u32> counts_, places_;  // tests and place of each variable
  std::vector<u32> names_;
  std::vector<SmallCube> small_;
};

// `b.values` has the value sets of all draws, one draw after the other.
struct RedrawnModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  FeatureArrays a, b;
  std::size_t draws;  // at least one

  FeatureArrays draw(std::size_t which) const {
    FeatureArrays drawn = b;
    drawn.values += which * static_cast<std::size_t>(b.starts[b.count]) * b.words;
    return drawn;
  }
};

// A distance that exceeded its budget.
struct OpenDistance {
  std::int64_t pair, draw;
};

class RedrawnCounter {
 public:
  // The pairs must be distinct and in rising order.
  RedrawnCounter(const RedrawnModels& models, std::vector<Pair> pairs, const PairOptions& options)
      : RedrawnCounter(models, PairTable(pairs, models.cardinalities.size()), pairs, options) {}

  // Counts all pairs. A few times a second it calls `watch` with the number of finished pairs, from
  // the calling thread. When `watch` returns false, the work stops.
  void run(const std::function<bool(std::size_t)>& watch) {
    const WatchedThreads::Work work = [this] { this->work(); };
    const WatchedThreads::Watch look = [&] { return watch(done_); };
    WatchedThreads(stop_, work, look).run(std::min<std::size_t>(options_.threads, pairs_.size()));
  }

  // Returns the distance of a draw to the first model on a pair, unless it is open.
  const Natural& distance(std::size_t pair, std::size_t draw) const {
    return distances_[pair * drawn_.size() + draw];
  }
  const std::vector<OpenDistance>& open() const { return open_; }
  // Returns the limit of the numbers; see ValueClasses.
  u32 limit() const { return classes_.limit(); }

 private:
  RedrawnCounter(const RedrawnModels& models, const PairTable& table,
                 const std::vector<Pair>& pairs, const PairOptions& options)
      : pairs_(pairs),
        options_(options),
        classes_(models.cardinalities, models.value_weights),
        first_(RelevantFeatures(models.a, table), classes_, table),
        drawn_(features_of(models, table)),
        index_(drawn_[0], table),
        distances_(pairs.size() * models.draws) {
    const std::array<const MergedFeatures*, 2> merged{&first_.merged, &drawn_[0]};
    limit_numbers(classes_, merged, pairs_);
  }

  // Makes the features of each draw without merging, so that all draws have the same scopes in the
  // same order.
  std::vector<MergedFeatures> features_of(const RedrawnModels& models,
                                          const PairTable& table) const {
    const RelevantFeatures relevant(models.b, table);
    std::vector<MergedFeatures> merged(models.draws);
    for (std::size_t d = 0; d < models.draws; ++d) {
      merged[d].stride = classes_.stride();
      for (u32 f : relevant.features) merged[d].add(models.draw(d), f, classes_);
    }
    return merged;
  }

  // Memory that a thread reuses from pair to pair.
  struct Scratch {
    UnionCounter counter;
    FeatureTables tables;
    std::vector<PairFeatures> models;  // the first, and the draws
    std::vector<Cover> covers;
    std::vector<u64> first, drawn;  // tables
  };

  void work() {
    Scratch scratch{UnionCounter(classes_, options_.canonical,
                                 options_.memory / std::max(1u, options_.threads)),
                    FeatureTables(classes_),
                    {},
                    {},
                    {},
                    {}};
    const Budget budget{options_.node_budget, Clock::time_point::max(), &stop_};
    for (std::size_t at = next_++; at < pairs_.size() && !stop_; at = next_++) {
      scratch.counter.begin(pairs_[at]);
      scratch.models.assign(1, {&first_.merged, first_.index.features(at)});
      for (const MergedFeatures& drawn : drawn_)
        scratch.models.push_back({&drawn, index_.features(at)});
      if (!by_tables(at, scratch)) by_unions(at, scratch, budget);
      ++done_;
    }
  }

  bool by_tables(std::size_t at, Scratch& scratch) {
    FeatureTables& tables = scratch.tables;
    const std::vector<PairFeatures>& models = scratch.models;
    if (!tables.begin(std::span(models).first(2), scratch.counter.excluded())) return false;
    tables.fill(models[0], scratch.first);
    const Natural one = scratch.counter.with_others(Natural(1), tables.names());
    for (std::size_t d = 0; d < drawn_.size(); ++d) {
      tables.fill(models[d + 1], scratch.drawn);
      Natural& distance = distances_[at * drawn_.size() + d];
      distance = one;
      distance *=
          Natural(differing_in(scratch.first.data(), scratch.drawn.data(), tables.variables()));
    }
    return true;
  }

  void by_unions(std::size_t at, Scratch& scratch, const Budget& budget) {
    UnionCounter& counter = scratch.counter;
    std::vector<Cover>& covers = scratch.covers;
    covers.resize(scratch.models.size());
    counter.extract(scratch.models, covers);
    for (Cover& cover : covers) counter.simplify(cover, budget);
    Interval<Natural> unknown;
    unknown.gap = counter.contexts();
    Interval<Natural> first = unknown;
    for (std::size_t d = 0; d < drawn_.size() && !stop_; ++d) {
      PairSizes bounds{{first, unknown, unknown}, true};
      counter.run(covers[0], covers[d + 1], budget, bounds);
      first = bounds.sizes[0];
      if (!bounds.closed()) {
        leave_open(at, d);
        continue;
      }
      Natural& distance = distances_[at * drawn_.size() + d];
      distance = bounds.sizes[2].low;
      distance <<= 1;
      distance -= bounds.sizes[0].low;
      distance -= bounds.sizes[1].low;
    }
  }

  void leave_open(std::size_t pair, std::size_t draw) {
    const std::lock_guard lock(mutex_);
    open_.push_back({static_cast<std::int64_t>(pair), static_cast<std::int64_t>(draw)});
  }

  std::vector<Pair> pairs_;
  PairOptions options_;
  ValueClasses classes_;
  IndexedFeatures first_;
  std::vector<MergedFeatures> drawn_;
  PairIndex index_;  // the same for every draw
  std::vector<Natural> distances_;
  std::vector<OpenDistance> open_;
  std::mutex mutex_;  // protects open_
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace contextwise

// One model beside many draws of a second one that differ in their value sets alone: the distance
// of each pair. Guesses by chance are such draws.
//
// Scopes stay. So the features that speak of a pair and the variables they test are found once for
// all draws, and the first model's cover is made, simplified and counted once. Where few binary
// variables are tested, each draw is a truth table beside that of the first model; otherwise it is
// counted as in a comparison. Cubes with values drawn at random seldom unite or lie in each other:
// to simplify them brings little, and tables pay for more variables than inside the recursion.
#pragma once

#include <algorithm>
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
#include "claims.hpp"
#include "classes.hpp"
#include "cover.hpp"
#include "cover_source.hpp"
#include "features.hpp"
#include "index.hpp"
#include "interval.hpp"
#include "pairs.hpp"
#include "threads.hpp"
#include "truth.hpp"
#include "unions.hpp"

namespace contextwise {

// Truth tables over the binary variables that some claims on a pair test.
class ClaimTables {
 public:
  explicit ClaimTables(const ValueClasses& classes)
      : classes_(classes), counts_(classes.variables(), 0), places_(classes.variables(), NONE) {}

  // Finds the variables that are tested, but for those that are no part of a context; false if a
  // table does not pay.
  bool begin(std::span<const PairClaims> models, std::span<const u32> without) {
    for (u32 v : names_) counts_[v] = 0, places_[v] = NONE;
    names_.clear();
    for (const auto& [model, claims] : models)
      for (u32 c : claims)
        for (u32 v : model->tests(c)) {
          if (std::ranges::find(without, v) != without.end() || counts_[v]++) continue;
          if (names_.size() == MOST || classes_.count(v) != 2 || !classes_.unit(v)) {
            counts_[v] = 0;
            return false;
          }
          names_.push_back(v);
        }
    // A cube is written to each choice of the high variables that it does not test; so those that
    // most cubes test are the high ones.
    std::ranges::stable_sort(names_, {}, [&](u32 v) { return counts_[v]; });
    for (u32 k = 0; k < names_.size(); ++k) places_[names_[k]] = k;
    return true;
  }

  std::span<const u32> names() const { return names_; }
  int variables() const { return static_cast<int>(names_.size()); }

  // The table of the claims of one model.
  void fill(const PairClaims& of, std::vector<u64>& table) {
    small_.clear();
    for (u32 c : of.claims) {
      SmallCube& cube = small_.emplace_back();
      const u64* forbidden = of.model->forbidden_by(c).data();
      for (u32 v : of.model->tests(c)) {
        if (places_[v] != NONE) cube.test(places_[v], *forbidden & 1);
        forbidden += of.model->stride;
      }
    }
    fill_table(small_.data(), small_.size(), variables(), table);
  }

 private:
  static constexpr u32 NONE = ~u32{0};
  // Measured on value sets drawn anew for plants: 16 and 20 take some 8 % longer, 14 some 15 %.
  static constexpr std::size_t MOST = 18;

  const ValueClasses& classes_;
  std::vector<u32> counts_, places_;  // of each variable: how many tests there are, and its place
  std::vector<u32> names_;
  std::vector<SmallCube> small_;
};

// The value sets of the draws stand one after the other, for the scopes of the second model.
struct RedrawnModels {
  std::vector<std::int64_t> cardinalities;
  std::vector<Natural> value_weights;  // see ValueClasses
  FeatureArrays a, b;
  std::size_t draws;  // one at least

  FeatureArrays draw(std::size_t which) const {
    FeatureArrays drawn = b;
    drawn.values += which * static_cast<std::size_t>(b.starts[b.count]) * b.words;
    return drawn;
  }
};

// A distance that its budget did not suffice for.
struct OpenDistance {
  std::int64_t pair, draw;
};

class RedrawnCounter {
 public:
  // The pairs rise, and none comes twice.
  RedrawnCounter(const RedrawnModels& models, std::vector<Pair> pairs, const PairOptions& options)
      : RedrawnCounter(models, PairTable(pairs, models.cardinalities.size()), pairs, options) {}

  // Counts everything. `watch` is called from this thread a few times a second with the number of
  // pairs done; when it returns false, the work stops.
  void run(const std::function<bool(std::size_t)>& watch) {
    const WatchedThreads::Work work = [this] { this->work(); };
    const WatchedThreads::Watch look = [&] { return watch(done_); };
    WatchedThreads(stop_, work, look).run(std::min<std::size_t>(options_.threads, pairs_.size()));
  }

  // Of a pair to the first model, without those that stayed open.
  const Natural& distance(std::size_t pair, std::size_t draw) const {
    return distances_[pair * drawn_.size() + draw];
  }
  const std::vector<OpenDistance>& open() const { return open_; }

 private:
  RedrawnCounter(const RedrawnModels& models, const PairTable& table,
                 const std::vector<Pair>& pairs, const PairOptions& options)
      : pairs_(pairs),
        options_(options),
        classes_(models.cardinalities, models.value_weights),
        first_(SpeakingFeatures(models.a, table), classes_, table),
        drawn_(claims_of(models, table)),
        index_(drawn_[0], table),
        distances_(pairs.size() * models.draws) {}

  // The claims of each draw, none of them united: so all draws have the same ones.
  std::vector<Claims> claims_of(const RedrawnModels& models, const PairTable& table) const {
    const SpeakingFeatures speaking(models.b, table);
    std::vector<Claims> found(models.draws);
    for (std::size_t d = 0; d < models.draws; ++d) {
      found[d].stride = classes_.stride();
      for (u32 f : speaking.features) found[d].add(models.draw(d), f, classes_);
    }
    return found;
  }

  // What a thread needs for one pair after the other.
  struct Scratch {
    UnionCounter counter;
    ClaimTables tables;
    std::vector<PairClaims> models;  // the first, and the draws
    std::vector<Cover> covers;
    std::vector<u64> first, drawn;  // tables
  };

  void work() {
    Scratch scratch{UnionCounter(classes_, options_.canonical,
                                 options_.memory / std::max(1u, options_.threads)),
                    ClaimTables(classes_),
                    {},
                    {},
                    {},
                    {}};
    const Budget budget{options_.node_budget, Clock::time_point::max(), &stop_};
    for (std::size_t at = next_++; at < pairs_.size() && !stop_; at = next_++) {
      scratch.counter.begin(pairs_[at]);
      scratch.models.assign(1, {&first_.claims, first_.index.claims(at)});
      for (const Claims& drawn : drawn_) scratch.models.push_back({&drawn, index_.claims(at)});
      if (!by_tables(at, scratch)) by_unions(at, scratch, budget);
      ++done_;
    }
  }

  bool by_tables(std::size_t at, Scratch& scratch) {
    ClaimTables& tables = scratch.tables;
    const std::vector<PairClaims>& models = scratch.models;
    if (!tables.begin(std::span(models).first(2), scratch.counter.own())) return false;
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
      PairSizes found{{first, unknown, unknown}, true};
      counter.run(covers[0], covers[d + 1], budget, found);
      first = found.sizes[0];
      if (!found.closed()) {
        leave_open(at, d);
        continue;
      }
      Natural& distance = distances_[at * drawn_.size() + d];
      distance = found.sizes[2].low;
      distance <<= 1;
      distance -= found.sizes[0].low;
      distance -= found.sizes[1].low;
    }
  }

  void leave_open(std::size_t pair, std::size_t draw) {
    const std::lock_guard lock(mutex_);
    open_.push_back({static_cast<std::int64_t>(pair), static_cast<std::int64_t>(draw)});
  }

  std::vector<Pair> pairs_;
  PairOptions options_;
  ValueClasses classes_;
  IndexedClaims first_;
  std::vector<Claims> drawn_;
  PairIndex index_;  // of every draw
  std::vector<Natural> distances_;
  std::vector<OpenDistance> open_;
  std::mutex mutex_;  // of open_
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace contextwise

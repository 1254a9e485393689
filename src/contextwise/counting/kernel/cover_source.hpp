// Makes the covers of a pair from the features on it: the cubes without the pair, over the
// variables they test. The compiled twin of CoverSource in counting/extraction.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "classes.hpp"
#include "cover.hpp"
#include "features.hpp"
#include "merged_features.hpp"

namespace contextwise {

// The features of a model on one pair.
struct PairFeatures {
  const MergedFeatures* model;
  std::span<const u32> features;
};

class CoverSource {
 public:
  explicit CoverSource(const ValueClasses& classes)
      : classes_(classes), places_(classes.variables()) {}

  // Fills one cover per model, all over the same bits. It leaves out the variables `without`, which
  // are not part of a context. The covers' memory is reused.
  void run(std::span<const u32> without, std::span<const PairFeatures> models,
           std::span<Cover> covers) {
    ++round_;
    for (u32 v : without) places_[v] = {round_, 0, 0};
    std::vector<u32>& names = covers[0].names;
    names.clear();
    chosen_.clear();
    for (const auto& [model, features] : models) {
      chosen_.push_back(enough(*model, features, without.size()));
      for (u32 c : chosen_.back())
        for (u32 v : model->tests(c)) {
          if (places_[v].round == round_) continue;
          places_[v] = {round_, 0, ~u64{0}};
          names.push_back(v);
        }
    }
    frame(covers[0]);
    for (std::size_t m = 0; m < models.size(); ++m) {
      if (m) {
        covers[m].start = covers[0].start;
        covers[m].weights = covers[0].weights;
        covers[m].names = names;
      }
      fill(covers[m], *models[m].model, chosen_[m]);
    }
  }

 private:
  // The first bit of a variable, and a mask for the bits that are written there: none for variables
  // that are left out, all for the others. A place is valid only in the round that made it, so
  // nothing has to be cleared.
  struct Place {
    u32 round = 0;
    u32 at;
    u64 keep;
  };

  // Returns the features that matter: if one of them tests only variables that are left out, it
  // covers everything and suffices. `without` is the number of variables left out.
  std::span<const u32> enough(const MergedFeatures& model, std::span<const u32> all,
                              std::size_t without) const {
    const auto left_out = [&](u32 v) { return places_[v].round == round_ && !places_[v].keep; };
    for (const u32& feature : all) {
      const std::span<const u32> tests = model.tests(feature);
      if (tests.size() <= without && std::ranges::all_of(tests, left_out)) return {&feature, 1};
    }
    return all;
  }

  // Gives each tested variable one bit per class.
  void frame(Cover& cover) {
    cover.start.assign(1, 0);
    cover.weights.clear();
    bool unit = true;
    for (u32 v : cover.names) {
      places_[v] = {round_, cover.start.back(), ~u64{0}};
      cover.start.push_back(cover.start.back() + classes_.count(v));
      unit &= classes_.unit(v);
    }
    if (unit) return;
    for (u32 v : cover.names)
      for (u32 k = 0; k < classes_.count(v); ++k) cover.weights.push_back(classes_.weight(v, k));
  }

  // Writes the cubes: moves the forbidden classes of each feature to the bits of their variables.
  void fill(Cover& cover, const MergedFeatures& model, std::span<const u32> chosen) const {
    const std::size_t words = cover.words();
    cover.forbidden.assign(chosen.size() * words, 0);
    u64* cube = cover.forbidden.data();
    for (u32 c : chosen) {
      const u64* forbidden = model.forbidden.data() + model.start[c] * model.stride;
      for (u32 v : model.tests(c)) {
        put(forbidden, model.stride, places_[v], cube);
        forbidden += model.stride;
      }
      cube += words;
    }
  }

  // Writes the classes of one variable into a cube, starting at bit `at`. A word of classes may
  // straddle two words of the cube: its low bits are shifted up into the first, and the bits
  // shifted out go into the second. They are shifted down in two steps because a shift by 64 is
  // undefined. Words without a bit are skipped because the cube may end before them.
  static void put(const u64* classes, std::size_t stride, const Place& place, u64* cube) {
    u64* target = cube + place.at / 64;
    const u32 shift = place.at % 64;
    for (std::size_t k = 0; k == 0 || k < stride; ++k) {
      const u64 bits = classes[k] & place.keep;
      if (k && !bits) continue;
      target[k] |= bits << shift;
      if (const u64 over = bits >> 1 >> (63 - shift)) target[k + 1] |= over;
    }
  }

  const ValueClasses& classes_;
  u32 round_ = 0;
  std::vector<Place> places_;
  std::vector<std::span<const u32>> chosen_;  // scratch space
};

}  // namespace contextwise

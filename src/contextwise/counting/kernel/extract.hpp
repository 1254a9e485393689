// From the claims on a pair to its covers in both models: the cubes without the pair, over the
// variables they test.
#pragma once

#include "index.hpp"

namespace contextwise {

// The claims of a model, and those of each pair.
struct IndexedClaims {
  Claims claims;
  PairIndex index;
};

class Extractor {
 public:
  Extractor(const Coding& coding, const IndexedClaims& a, const IndexedClaims& b, bool canonical)
      : coding_(coding), models_{&a, &b}, canonical_(canonical), places_(coding.variables()) {}

  // Both covers are over the same bits. What they held before is gone; their space is used again.
  void run(std::size_t number, const Pair& pair, std::array<Cover, 2>& covers) {
    ++round_;
    if (!canonical_)
      for (u32 v : {pair.first, pair.second}) places_[v] = {round_, 0, 0};
    std::vector<u32>& names = covers[0].names;
    names.clear();
    std::array<std::span<const u32>, 2> chosen;
    for (int m = 0; m < 2; ++m) {
      chosen[m] = claims(*models_[m], number, pair);
      for (u32 c : chosen[m])
        for_each_test(models_[m]->claims, c, [&](u32 v, std::size_t) {
          if (places_[v].round == round_) return;
          places_[v].round = round_;
          names.push_back(v);
        });
    }
    frame(covers[0]);
    covers[1].start = covers[0].start;
    covers[1].weights = covers[0].weights;
    covers[1].names = names;
    for (int m = 0; m < 2; ++m) fill(covers[m], models_[m]->claims, chosen[m]);
  }

 private:
  // Where the bits of a variable begin in the present round, and a mask: none for the pair's own.
  struct Place {
    u32 round = 0;
    u32 at;
    u64 keep;
  };

  // The claims on a pair. One that tests nothing else holds everywhere, and stands for all.
  std::span<const u32> claims(const IndexedClaims& model, std::size_t number, const Pair& pair) const {
    const std::span<const u32> all = model.index.claims(number);
    if (canonical_) return all;
    for (const u32& claim : all) {
      const std::span<const u32> tests = model.claims.tests(claim);
      if (tests.size() <= 2 &&
          std::ranges::all_of(tests, [&](u32 v) { return v == pair.first || v == pair.second; }))
        return {&claim, 1};
    }
    return all;
  }

  template <class Action>
  static void for_each_test(const Claims& claims, u32 claim, Action action) {
    for (std::size_t t = claims.start[claim]; t < claims.start[claim + 1]; ++t)
      action(claims.variables[t], t);
  }

  // Gives each tested variable its bits: one a class.
  void frame(Cover& cover) {
    cover.start.assign(1, 0);
    cover.weights.clear();
    bool unit = true;
    for (u32 v : cover.names) {
      places_[v] = {round_, cover.start.back(), ~u64{0}};
      cover.start.push_back(cover.start.back() + coding_.classes(v));
      unit &= coding_.unit(v);
    }
    if (unit) return;
    for (u32 v : cover.names)
      for (u32 k = 0; k < coding_.classes(v); ++k) cover.weights.push_back(coding_.weight(v, k));
  }

  void fill(Cover& cover, const Claims& claims, std::span<const u32> chosen) const {
    const std::size_t words = cover.words();
    cover.cubes.assign(chosen.size() * words, 0);
    u64* cube = cover.cubes.data();
    for (u32 c : chosen) {
      for_each_test(claims, c, [&](u32 v, std::size_t test) {
        const Place& place = places_[v];
        const u64* forbidden = claims.forbidden.data() + test * claims.stride;
        u64* target = cube + place.at / 64;
        const u32 shift = place.at % 64;
        for (std::size_t k = 0; k == 0 || k < claims.stride; ++k) {
          const u64 bits = forbidden[k] & place.keep;
          if (k && !bits) continue;  // maybe beyond the classes of this variable
          target[k] |= bits << shift;
          if (const u64 over = bits >> 1 >> (63 - shift)) target[k + 1] |= over;
        }
      });
      cube += words;
    }
  }

  const Coding& coding_;
  const IndexedClaims* models_[2];
  bool canonical_;
  u32 round_ = 0;
  std::vector<Place> places_;
};

}  // namespace contextwise

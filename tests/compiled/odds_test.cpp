// The search at tolerances for the sanitizers: random pairs of models with zeros, claims and many
// states, against every context, and under budgets and threads. Seeded; an argument is another
// seed.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "pairs.hpp"

using namespace contextwise;
using namespace contextwise::odds;

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "odds_test: %s\n", what);
  std::exit(1);
}

// The features of one model; all cover the pair of the first two variables.
struct Drawn {
  std::vector<i64> starts{0}, weights, pair_starts, owners;
  std::vector<std::int32_t> variables;
  WordList values;
  bool claims = false;

  WeightedModel model(std::size_t words) const {
    const FeatureArrays arrays{starts.data(), variables.data(), values.data(), starts.size() - 1,
                               words};
    return {arrays, claims ? nullptr : weights.data(), pair_starts.data(), owners.data()};
  }
};

class Case {
 public:
  explicit Case(u64 seed) : rng_(seed) {
    const i64 states[] = {2, 2, 3, 4};
    for (int v = 0; v < 5; ++v) cardinalities_.push_back(states[below(4)]);
    if (below(4) == 0) cardinalities_[below(2)] = below(2) ? 70 : 26;
    for (const i64 c : cardinalities_)
      words_ = std::max(words_, (static_cast<std::size_t>(c) + 63) / 64);
    for (Drawn& model : models_) draw(model);
  }

  void run() {
    const WeightedModel models[2] = {models_[0].model(words_), models_[1].model(words_)};
    const std::vector<i64> thresholds{1, 4, 9};
    for (const u64 nodes : {Budget::UNLIMITED, u64{3}}) {
      const Options options{nodes, Clock::time_point::max(), 2};
      PairSearches searches(cardinalities_, models, {{0, 1}, {0, 1}}, thresholds, options);
      searches.run([](std::size_t) { return true; });
      for (const Found& found : searches.found())
        for (std::size_t t = 0; t < thresholds.size(); ++t)
          compare(found, t, thresholds[t], nodes == Budget::UNLIMITED);
    }
  }

 private:
  std::size_t below(std::size_t n) { return rng_() % n; }

  void draw(Drawn& model) {
    model.claims = below(4) == 0;
    const bool zeros = below(3) == 0;
    const std::size_t features = below(9);
    for (std::size_t f = 0; f < features; ++f) {
      for (std::size_t v = 0; v < cardinalities_.size(); ++v) {
        if (v > 1 && below(2)) continue;
        const auto states = static_cast<std::size_t>(cardinalities_[v]);
        WordList set(words_);
        for (std::size_t k = 0; k < states; ++k)
          if (below(2)) set[k / 64] |= u64{1} << k % 64;
        const std::size_t sure = below(states), never = (sure + 1) % states;
        set[sure / 64] |= u64{1} << sure % 64;
        set[never / 64] &= ~(u64{1} << never % 64);
        model.variables.push_back(static_cast<std::int32_t>(v));
        model.values.insert(model.values.end(), set.begin(), set.end());
      }
      model.starts.push_back(static_cast<i64>(model.variables.size()));
      model.owners.push_back(static_cast<i64>(f));
      model.weights.push_back(zeros && below(3) == 0 ? IMPOSSIBLE
                                                     : static_cast<i64>(below(11)) - 5);
    }
    for (std::size_t f = 0; f < features; ++f) model.owners.push_back(static_cast<i64>(f));
    model.pair_starts = {0, static_cast<i64>(features), static_cast<i64>(2 * features)};
  }

  bool holds(const Drawn& model, std::size_t f, const std::vector<std::size_t>& state) const {
    for (i64 l = model.starts[f]; l < model.starts[f + 1]; ++l) {
      const auto at = static_cast<std::size_t>(l);
      const auto v = static_cast<std::size_t>(model.variables[at]);
      if (!has(std::span(model.values).subspan(at * words_, words_), state[v])) return false;
    }
    return true;
  }

  // Decides whether the pair depends in a context, by its whole table.
  bool depends(const Drawn& model, std::vector<std::size_t> state, i64 threshold) const {
    const auto rows = static_cast<std::size_t>(cardinalities_[0]);
    const auto columns = static_cast<std::size_t>(cardinalities_[1]);
    std::vector<i64> table(rows * columns, 0);
    std::vector<bool> possible(rows * columns, true), row(rows), column(columns);
    bool any = false;
    for (state[0] = 0; state[0] < rows; ++state[0])
      for (state[1] = 0; state[1] < columns; ++state[1])
        for (std::size_t f = 0; f < model.weights.size(); ++f) {
          if (!holds(model, f, state)) continue;
          any = true;
          const std::size_t cell = state[0] * columns + state[1];
          if (model.weights[f] == IMPOSSIBLE)
            possible[cell] = false;
          else
            table[cell] += model.weights[f];
        }
    if (model.claims) return any;
    for (std::size_t k = 0; k < table.size(); ++k)
      if (possible[k]) row[k / columns] = column[k % columns] = true;
    for (std::size_t k = 0; k < table.size(); ++k)
      if (row[k / columns] && column[k % columns] && !possible[k]) return true;
    for (std::size_t a = 0; a < rows; ++a)
      for (std::size_t b = 0; b < a; ++b)
        for (std::size_t c = 0; c < columns; ++c)
          for (std::size_t d = 0; d < c; ++d) {
            if (!row[a] || !row[b] || !column[c] || !column[d]) continue;
            const i64 ratio = table[a * columns + c] + table[b * columns + d] -
                              table[a * columns + d] - table[b * columns + c];
            if (ratio > threshold || -ratio > threshold) return true;
          }
    return false;
  }

  // Counts the joint verdicts, in the unit of the search.
  std::array<u64, 4> count(i64 threshold) const {
    std::array<u64, 4> counts{};
    std::vector<std::size_t> state(cardinalities_.size(), 0);
    for (;;) {
      ++counts[2 * depends(models_[0], state, threshold) + depends(models_[1], state, threshold)];
      std::size_t v = 2;
      while (v < state.size() && ++state[v] == static_cast<std::size_t>(cardinalities_[v]))
        state[v++] = 0;
      if (v == state.size()) return counts;
    }
  }

  void compare(const Found& found, std::size_t t, i64 threshold, bool exact) const {
    const std::array<u64, 4> truth = count(threshold);
    const u64 all = truth[0] + truth[1] + truth[2] + truth[3];
    expect(found.words == 1 && all % found.whole[0] == 0, "the whole divides all contexts");
    const u64 unit = all / found.whole[0];
    u64 open = 0, sum = 0;
    std::array<u64, 4> closed{};
    for (std::size_t verdict = 0; verdict < VERDICTS; ++verdict) {
      const u64 size = found.sizes[t * VERDICTS + verdict] * unit;
      const std::size_t first = verdict / 3, second = verdict % 3;
      sum += size;
      (first == OPEN || second == OPEN ? open : closed[2 * first + second]) += size;
    }
    expect(sum == all, "the sizes add up");
    expect(!exact || open == 0, "nothing is open without a budget");
    for (std::size_t k = 0; k < 4; ++k)
      expect(closed[k] <= truth[k] && truth[k] <= closed[k] + open, "the truth is inside");
  }

  std::mt19937_64 rng_;
  std::vector<i64> cardinalities_;
  std::size_t words_ = 1;
  Drawn models_[2];
};

}  // namespace

int main(int count, char** arguments) {
  const u64 seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  for (u64 k = 0; k < 60; ++k) Case(1000 * seed + k).run();
  return 0;
}

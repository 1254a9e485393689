// One pair of variables in two models, as sums that depend on the context.
//
// A feature with both variables becomes a cube: its literals on the other variables, and what it
// adds to each contrast where they hold. A contrast is the log odds ratio of two states of the one
// variable and two of the other. Cubes that exclude each other form a group; at most one of them
// holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "../../counting/kernel/bigint.hpp"
#include "../../counting/kernel/features.hpp"
#include "../../counting/kernel/refinement.hpp"

namespace contextwise::odds {

using i32 = std::int32_t;
using i64 = std::int64_t;
using WordList = std::vector<u64>;

inline constexpr i64 IMPOSSIBLE = std::numeric_limits<i64>::min();
inline constexpr i64 INFINITE = std::numeric_limits<i64>::max();

inline bool has(std::span<const u64> set, std::size_t k) { return set[k / 64] >> k % 64 & 1; }

// The features of a model with their weights, and those that cover each pair.
struct WeightedModel {
  FeatureArrays features;
  const i64* weights;  // null: the model has claims without weights
  const i64* starts;   // the features of pair k are owners[starts[k]] to owners[starts[k + 1]]
  const i64* owners;

  std::span<const i64> of_pair(std::size_t pair) const {
    return {owners + starts[pair], static_cast<std::size_t>(starts[pair + 1] - starts[pair])};
  }
};

// A variable of the contexts. Values that no cube distinguishes are one class.
struct Variable {
  std::vector<u32> class_of;  // of each value
  std::vector<u64> weights;   // number of values of each class
  u64 total;                  // number of values
};

struct Literal {
  u32 variable;      // a place among the variables of the problem
  WordList allowed;  // the classes that it allows
};

struct Cube {
  std::vector<Literal> literals;
  std::vector<i64> values;  // what it adds to each contrast, or to each cell
  WordList zeros;           // the cells that it makes impossible; empty if none
  u32 group = 0;

  // Tests whether it adds nothing.
  bool is_nothing() const {
    return zeros.empty() && std::ranges::all_of(values, [](i64 value) { return value == 0; });
  }
};

// The table of the two variables in one model. States that no feature distinguishes are one class.
struct Table {
  static constexpr std::size_t MOST_CONTRASTS = 512;

  u32 rows = 1, columns = 1;
  bool by_cells = false;  // too many contrasts: cubes have values of cells
  bool zeros = false;     // some cube makes cells impossible

  std::size_t cells() const { return std::size_t{rows} * columns; }
  std::size_t contrasts() const {
    return std::size_t{rows} * (rows - 1) / 2 * columns * (columns - 1) / 2;
  }
  std::size_t width() const { return by_cells ? cells() : contrasts(); }

  // Calls `visit` with the four cells of each contrast.
  template <class Visit>
  void each_contrast(Visit visit) const {
    for (u32 a = 0; a < rows; ++a)
      for (u32 b = a + 1; b < rows; ++b)
        for (u32 c = 0; c < columns; ++c)
          for (u32 d = c + 1; d < columns; ++d)
            visit(a * columns + c, b * columns + d, a * columns + d, b * columns + c);
  }
};

struct Side {
  Table table;
  std::vector<Cube> cubes;
  std::vector<std::vector<u32>> groups;  // the cubes of each group
  bool claims = false;
};

// Makes the classes of some values, given the value sets that distinguish them.
inline std::vector<u32> classes_of(std::size_t values,
                                   const std::vector<std::span<const u64>>& sets) {
  Refinement classes(values);
  for (const std::span<const u64> set : sets)
    if (!classes.finest()) classes.split([&](std::size_t k) { return has(set, k); });
  return classes.of();
}

inline u32 count_of(const std::vector<u32>& classes) {
  return classes.empty() ? 0 : *std::max_element(classes.begin(), classes.end()) + 1;
}

class Problem {
 public:
  Problem(std::span<const i64> cardinalities, const WeightedModel (&models)[2], std::size_t place,
          Pair pair)
      : pair_(pair) {
    find_variables(cardinalities, models, place);
    for (int m = 0; m < 2; ++m) {
      sides[m].claims = models[m].weights == nullptr;
      make_cubes(cardinalities, models[m], models[m].of_pair(place), sides[m]);
      make_groups(sides[m]);
    }
  }

  std::vector<Variable> variables;
  Side sides[2];

 private:
  static constexpr u32 NONE = ~u32{0};

  void find_variables(std::span<const i64> cardinalities, const WeightedModel (&models)[2],
                      std::size_t place) {
    std::map<u32, std::vector<std::span<const u64>>> sets;
    for (const WeightedModel& model : models)
      for (const i64 f : model.of_pair(place)) each_literal(model, f, sets);
    for (const auto& [variable, distinct] : sets) {
      place_of_[variable] = static_cast<u32>(variables.size());
      const auto values = static_cast<std::size_t>(cardinalities[variable]);
      Variable& made = variables.emplace_back();
      made.class_of = classes_of(values, distinct);
      made.total = values;
      made.weights.assign(count_of(made.class_of), 0);
      for (const u32 k : made.class_of) ++made.weights[k];
    }
  }

  void each_literal(const WeightedModel& model, i64 feature,
                    std::map<u32, std::vector<std::span<const u64>>>& sets) const {
    const auto f = static_cast<u32>(feature);
    std::size_t literal = model.features.begin(f);
    for (const std::int32_t v : model.features.scope(f)) {
      const auto variable = static_cast<u32>(v);
      const std::span<const u64> set = model.features.value_set(literal++);
      if (!pair_.has(variable)) {
        auto& known = sets[variable];
        const bool seen = std::ranges::any_of(
            known, [&](std::span<const u64> other) { return std::ranges::equal(set, other); });
        if (!seen) known.push_back(set);
      }
    }
  }

  // Makes the distinct cubes of one model; equal ones add up.
  void make_cubes(std::span<const i64> cardinalities, const WeightedModel& model,
                  std::span<const i64> features, Side& side) {
    std::vector<std::span<const u64>> sets[2];
    for (const i64 f : features)
      for (int end = 0; end < 2; ++end)
        if (!side.claims)
          sets[end].push_back(literal_on(model, f, end ? pair_.second : pair_.first));
    std::vector<u32> states[2];
    for (int end = 0; end < 2; ++end)
      states[end] = classes_of(
          static_cast<std::size_t>(cardinalities[end ? pair_.second : pair_.first]), sets[end]);
    Table& table = side.table;
    table.rows = side.claims ? 2 : count_of(states[0]);
    table.columns = side.claims ? 2 : count_of(states[1]);
    table.by_cells = table.contrasts() > Table::MOST_CONTRASTS;
    std::map<std::vector<u64>, u32> known;
    for (std::size_t k = 0; k < features.size(); ++k) {
      const u32 at = cube_of(model, features[k], side, known);
      if (side.claims) {
        side.cubes[at].values = {1};
        continue;
      }
      WordList cells((table.cells() + 63) / 64);
      for (std::size_t a = 0; a < states[0].size(); ++a)
        for (std::size_t b = 0; b < states[1].size(); ++b)
          if (has(sets[0][k], a) && has(sets[1][k], b)) {
            const std::size_t cell = std::size_t{states[0][a]} * table.columns + states[1][b];
            cells[cell / 64] |= u64{1} << cell % 64;
          }
      add(table, cells, model.weights[features[k]], side.cubes[at]);
    }
    std::erase_if(side.cubes, [](const Cube& cube) { return cube.is_nothing(); });
  }

  static std::span<const u64> literal_on(const WeightedModel& model, i64 feature, u32 variable) {
    const auto f = static_cast<u32>(feature);
    const std::span<const std::int32_t> scope = model.features.scope(f);
    const auto at = std::ranges::lower_bound(scope, static_cast<std::int32_t>(variable));
    return model.features.value_set(model.features.begin(f) +
                                    static_cast<std::size_t>(at - scope.begin()));
  }

  // Returns the place of the cube with the literals of a feature; adds it if it is new.
  u32 cube_of(const WeightedModel& model, i64 feature, Side& side,
              std::map<std::vector<u64>, u32>& known) {
    const auto f = static_cast<u32>(feature);
    Cube cube;
    std::vector<u64> key;
    std::size_t literal = model.features.begin(f);
    for (const std::int32_t v : model.features.scope(f)) {
      const std::span<const u64> set = model.features.value_set(literal++);
      if (pair_.has(static_cast<u32>(v))) continue;
      const u32 place = place_of_.at(static_cast<u32>(v));
      const Variable& variable = variables[place];
      WordList allowed((variable.weights.size() + 63) / 64);
      for (std::size_t k = 0; k < variable.class_of.size(); ++k)
        if (has(set, k)) allowed[variable.class_of[k] / 64] |= u64{1} << variable.class_of[k] % 64;
      key.push_back(place);
      key.insert(key.end(), allowed.begin(), allowed.end());
      cube.literals.push_back({place, std::move(allowed)});
    }
    const auto [at, fresh] = known.try_emplace(std::move(key), static_cast<u32>(side.cubes.size()));
    if (fresh) {
      cube.values.assign(side.claims ? 1 : side.table.width(), 0);
      side.cubes.push_back(std::move(cube));
    }
    return at->second;
  }

  // Adds the weight of a feature that holds in these cells.
  static void add(Table& table, const WordList& cells, i64 weight, Cube& cube) {
    if (weight == IMPOSSIBLE) {
      table.zeros = true;
      cube.zeros.resize(cells.size());
      for (std::size_t k = 0; k < cells.size(); ++k) cube.zeros[k] |= cells[k];
      return;
    }
    if (table.by_cells) {
      for (std::size_t k = 0; k < table.cells(); ++k)
        if (has(cells, k)) cube.values[k] += weight;
      return;
    }
    std::size_t at = 0;
    table.each_contrast([&](u32 a, u32 b, u32 c, u32 d) {
      cube.values[at++] += weight * (has(cells, a) + has(cells, b) - has(cells, c) - has(cells, d));
    });
  }

  // Puts each cube into the first group whose cubes it excludes.
  static void make_groups(Side& side) {
    for (u32 c = 0; c < side.cubes.size(); ++c) {
      u32 g = 0;
      for (; g < side.groups.size(); ++g)
        if (std::ranges::all_of(side.groups[g], [&](u32 other) {
              return exclude(side.cubes[c], side.cubes[other]);
            }))
          break;
      if (g == side.groups.size()) side.groups.emplace_back();
      side.groups[g].push_back(c);
      side.cubes[c].group = g;
    }
  }

  // Tests whether two cubes never hold together: they share a variable but no class of it.
  static bool exclude(const Cube& a, const Cube& b) {
    for (auto x = a.literals.begin(), y = b.literals.begin();
         x != a.literals.end() && y != b.literals.end();) {
      if (x->variable < y->variable) {
        ++x;
      } else if (y->variable < x->variable) {
        ++y;
      } else {
        u64 common = 0;
        for (std::size_t k = 0; k < x->allowed.size(); ++k) common |= x->allowed[k] & y->allowed[k];
        if (!common) return true;
        ++x, ++y;
      }
    }
    return false;
  }

  Pair pair_;
  std::map<u32, u32> place_of_;  // of each variable of the model
};

}  // namespace contextwise::odds

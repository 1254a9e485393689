// One conditional distribution: a multinomial logit whose predictors are blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "algebra.hpp"
#include "table.hpp"

namespace contextwise::blocks {

// The precision of the prior of each weight. It keeps weights finite where a state never occurs.
inline constexpr double RIDGE = 0.02;
inline constexpr int MOST_STEPS = 40, MOST_HALVINGS = 12;
inline constexpr double TOLERANCE = 1e-4, SMALL = 0.3, SMALLEST = 1e-9;

// A block as a predictor of one variable v. If v is an effect, there is a weight for each cell of
// the other effects and each state of v except the first. If a literal restricts v, there is a
// weight for each cell, which acts on the states that the literal allows.
struct Predictor {
  std::vector<int> cell;  // in each group, -1 where the block is not active
  std::size_t cells = 1;
  // If a literal restricts v: what a weight adds to each state of v, relative to the first state.
  std::vector<double> acts;
};

inline Predictor predictor_of(const Block& block, u32 v, const Table& table,
                              const std::vector<u32>& rows) {
  Predictor result;
  result.cell.assign(rows.size(), 0);
  for (const u32 effect : block.effects) {
    if (effect == v) continue;
    const int width = static_cast<int>(table.cardinalities[effect]) - 1;
    const std::vector<u32>& column = table.columns[effect];
    for (std::size_t g = 0; g < rows.size(); ++g) {
      int& cell = result.cell[g];
      const int state = static_cast<int>(column[rows[g]]);
      cell = cell < 0 || state == 0 ? -1 : cell * width + state - 1;
    }
    result.cells *= static_cast<std::size_t>(width);
  }
  for (const auto& [variable, allowed] : block.where) {
    if (variable == v) {
      for (u32 s = 1; s < table.cardinalities[v]; ++s)
        result.acts.push_back(static_cast<double>(allowed >> s & 1) -
                              static_cast<double>(allowed & 1));
      continue;
    }
    const std::vector<u32>& column = table.columns[variable];
    for (std::size_t g = 0; g < rows.size(); ++g)
      if (!(allowed >> column[rows[g]] & 1)) result.cell[g] = -1;
  }
  return result;
}

// The cells of predictors, and the weights of each cell. A cell acts on all states of v but the
// first, by a weight for each (`acts` is null) or by one weight.
class Cells {
 public:
  Cells(const std::vector<Predictor>& predictors, std::size_t free_states, std::size_t groups)
      : free_(free_states), first_{0}, start_(groups + 1, 0) {
    for (const Predictor& predictor : predictors) {
      of_.push_back(acts_.size());
      for (std::size_t cell = 0; cell < predictor.cells; ++cell) {
        acts_.push_back(predictor.acts);
        first_.push_back(first_.back() + (predictor.acts.empty() ? free_ : 1));
      }
    }
    of_.push_back(acts_.size());
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t k = 0; k < predictors.size(); ++k)
        if (predictors[k].cell[g] >= 0)
          active_.push_back(static_cast<u32>(of_[k]) + static_cast<u32>(predictors[k].cell[g]));
      start_[g + 1] = active_.size();
    }
  }

  std::size_t size() const { return acts_.size(); }
  std::size_t active() const { return active_.size(); }
  std::size_t weights() const { return first_.back(); }
  std::size_t first(std::size_t cell) const { return first_[cell]; }
  // The first cell of a predictor.
  std::size_t of(std::size_t predictor) const { return of_[predictor]; }
  std::span<const u32> in(std::size_t group) const {
    return {active_.data() + start_[group], start_[group + 1] - start_[group]};
  }

  // Returns what each cell adds to each state but the first, cell by cell.
  std::vector<double> added(const std::vector<double>& weights) const {
    std::vector<double> result;
    for (std::size_t cell = 0; cell < size(); ++cell)
      for (std::size_t s = 0; s < free_; ++s)
        result.push_back(acts_[cell].empty() ? weights[first_[cell] + s]
                                             : weights[first_[cell]] * acts_[cell][s]);
    return result;
  }
  // Adds sums over the states but the first of each cell to those of weights.
  void project(const double* sums, double* result) const {
    for (std::size_t cell = 0; cell < size(); ++cell)
      for (std::size_t s = 0; s < free_; ++s)
        if (acts_[cell].empty())
          result[first_[cell] + s] += sums[cell * free_ + s];
        else
          result[first_[cell]] += sums[cell * free_ + s] * acts_[cell][s];
  }
  // Calls `use(i, j, value)` for the weights of a cell here and one of `other`, with the values of
  // a packed symmetric matrix of the states but the first.
  template <class Use>
  void each(std::size_t cell, const Cells& other, std::size_t other_cell, const double* packed,
            const Use& use) const {
    const std::vector<double>&a = acts_[cell], &b = other.acts_[other_cell];
    const std::size_t i = first_[cell], j = other.first_[other_cell];
    for (std::size_t s = 0; s < free_; ++s)
      for (std::size_t t = 0; t < free_; ++t) {
        const double value = packed[s < t ? t * (t + 1) / 2 + s : s * (s + 1) / 2 + t];
        use(a.empty() ? i + s : i, b.empty() ? j + t : j,
            value * (a.empty() ? 1.0 : a[s]) * (b.empty() ? 1.0 : b[t]));
      }
  }

 private:
  std::size_t free_;
  std::vector<std::vector<double>> acts_;
  std::vector<std::size_t> first_, start_, of_;
  std::vector<u32> active_;
};

// What sums over groups need: the states of v, their probabilities, and the size of the sums.
struct States {
  std::size_t count, packed;

  explicit States(std::size_t states) : count(states), packed(states * (states - 1) / 2) {
    if (packed > 1) packed = (packed + 3) / 4 * 4;
  }
};

// Stores n times the covariance of the indicators of all states but the first.
inline void covariance(const States& states, const double* p, double n, double* packed) {
  for (std::size_t s = 1; s < states.count; ++s) {
    for (std::size_t t = 1; t < s; ++t) *packed++ = -n * p[s] * p[t];
    *packed++ = n * p[s] * (1.0 - p[s]);
  }
}

inline void add(double* to, const double* from, std::size_t size) {
#pragma omp simd
  for (std::size_t k = 0; k < size; ++k) to[k] += from[k];
}

inline std::size_t triangle(std::size_t i) { return i * (i + 1) / 2; }

// Adds a packed covariance to the sums of each pair of cells that are active in one group.
CONTEXTWISE_VECTORISED inline void add_pairs(std::span<const u32> cells, const double* packed,
                                             std::size_t size, double* sums) {
  if (size == 1) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      double* const row = sums + triangle(cells[i]);
      for (std::size_t j = 0; j <= i; ++j) row[cells[j]] += *packed;
    }
    return;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double* const row = sums + triangle(cells[i]) * size;
    for (std::size_t j = 0; j <= i; ++j) add(row + cells[j] * size, packed, size);
  }
}

// Adds a packed covariance to the sums of a cell with each of some others.
CONTEXTWISE_VECTORISED inline void add_cross(std::span<const u32> cells, const double* packed,
                                             std::size_t size, double* sums) {
  if (size == 1)
    for (const u32 cell : cells) sums[cell] += *packed;
  else
    for (const u32 cell : cells) add(sums + cell * size, packed, size);
}

// The distribution of v given blocks, fitted by Newton's method.
class Logit {
 public:
  Logit(const Table& table, u32 v, const std::vector<Block>& blocks)
      : table_(table),
        v_(v),
        states_(table.cardinalities[v]),
        groups_(table.groups_by(variables_of(blocks, v))),
        counts_(table.count(*groups_, v)),
        totals_(groups_->size(), 0.0),
        p_(counts_.size(), 0.0),
        cells_(predictors(blocks), states_.count - 1, groups_->size()),
        weights_(cells_.weights(), 0.0),
        factor_(0) {
    for (std::size_t k = 0; k < counts_.size(); ++k) totals_[k / states_.count] += counts_[k];
  }

  std::size_t size() const { return weights_.size(); }
  const std::vector<double>& weights() const { return weights_; }
  double log_likelihood() const { return log_likelihood_; }
  // About how many numbers it keeps.
  std::size_t items() const {
    return 4 * counts_.size() + table_.rows() + cells_.active() + factor_.items() + part_items_;
  }

  void start(const std::vector<double>& weights) {
    if (weights.size() == weights_.size()) weights_ = weights;
    log_likelihood_ = evaluate(weights_, p_);
  }

  void fit() {
    double objective = log_likelihood_ - penalty(weights_);
    std::vector<double> tried(size()), p(p_.size());
    for (int iteration = 0; iteration < MOST_STEPS; ++iteration) {
      const std::vector<double> gradient = score();
      const Matrix factor = information();
      Matrix solved(1, size());
      double* const step = solved.row(0);
      std::copy(gradient.begin(), gradient.end(), step);
      factor.solve_lower(solved);
      factor.solve_upper(step);
      double promised = 0.0;
      for (std::size_t k = 0; k < size(); ++k) promised += 0.5 * gradient[k] * step[k];
      if (!(promised > TOLERANCE)) return;
      double length = 1.0, likelihood = 0.0, reached = 0.0;
      for (int halving = 0; halving < MOST_HALVINGS; ++halving, length /= 2) {
        for (std::size_t k = 0; k < size(); ++k) tried[k] = weights_[k] + length * step[k];
        likelihood = evaluate(tried, p);
        reached = likelihood - penalty(tried);
        if (reached >= objective) break;
      }
      if (!(reached >= objective)) return;
      weights_ = tried;
      p_ = p;
      log_likelihood_ = likelihood;
      objective = reached;
      // Newton's steps converge quadratically: after a small one the rest is negligible.
      if (length == 1.0 && promised < SMALL) return;
    }
  }

  // Gets ready for changes of the weights at hand.
  void prepare() {
    if (!factor_.rows() && size()) factor_ = information();
  }

  // Returns half of Rao's score statistic of each option, which is a list of more blocks: about how
  // much a refit would gain. Needs `prepare`.
  std::vector<double> rao(const std::vector<std::vector<Block>>& options) {
    std::vector<double> result(options.size());
    std::map<Switches, std::vector<std::size_t>> together;
    std::vector<std::size_t> rest;
    for (std::size_t k = 0; k < options.size(); ++k) {
      const std::optional<Switches> switches = switches_of(options[k]);
      (switches ? together[*switches] : rest).push_back(k);
    }
    for (const auto& [switches, members] : together) {
      std::vector<const std::vector<Block>*> own;
      for (const std::size_t k : members) own.push_back(&options[k]);
      const Parts* const parts = parts_of(switches, own);
      if (!parts) rest.insert(rest.end(), members.begin(), members.end());
      for (std::size_t k = 0; parts && k < members.size(); ++k)
        result[members[k]] = statistic(joined(*parts, switches, *own[k]));
    }
    for (const std::size_t k : rest) {
      const std::vector<Block>& more = options[k];
      refine(variables_of(more, v_));
      std::vector<Predictor> predictors;
      for (const Block& block : more)
        predictors.push_back(predictor_of(block, v_, table_, finer_->row));
      result[k] = statistic(adapted(predictors));
    }
    return result;
  }

  // Returns about how the log-likelihood changes if a block acts only where a literal holds: its
  // effect is scaled there, is 0 elsewhere, and the other blocks adapt. Needs `prepare`.
  std::vector<double> only(std::size_t block,
                           const std::vector<std::pair<u32, u64>>& literals) const {
    const Along along(*this, block);
    std::vector<double> result;
    std::vector<double> curve;
    for (std::size_t k = 0; k < literals.size(); ++k) {
      const auto [variable, allowed] = literals[k];
      if (k == 0 || variable != literals[k - 1].first) curve = along.by_states(variable);
      const std::size_t card = table_.cardinalities[variable];
      // Sums of the gradient and of the curvature where the literal holds (1) or not (0).
      double gradient[2]{}, curvature[2][2]{};
      for (std::size_t s = 0; s < card; ++s) {
        const std::size_t inside = allowed >> s & 1;
        gradient[inside] += curve[s];
        for (std::size_t t = 0; t < card; ++t)
          curvature[inside][allowed >> t & 1] += curve[card + s * card + t];
      }
      const double slope = gradient[1] + curvature[1][0];
      result.push_back((curvature[1][1] > SMALLEST ? 0.5 * slope * slope / curvature[1][1] : 0.0) -
                       gradient[0] - 0.5 * curvature[0][0]);
    }
    return result;
  }

 private:
  // The score of more weights, and the lower triangle of their information if all others adapt.
  struct Effects {
    std::vector<double> score;
    Matrix information;
  };
  // The other effect of blocks, and the variables that their literals restrict.
  using Switches = std::pair<u32, std::set<u32>>;
  // The effects of another variable in disjoint sets of the states of its switches. Options that
  // are unions of such sets need no sums over groups and no equations of their own.
  struct Parts {
    std::vector<int> of;  // per configuration of the switches, its part, or -1
    std::size_t count = 0;
    Effects effects{{}, Matrix(0)};
  };
  static constexpr std::size_t MOST_CONFIGURATIONS = 1024, MOST_WEIGHTS = 600;

  Effects adapted(const std::vector<Predictor>& predictors) const {
    const std::size_t free = states_.count - 1, packed = states_.packed;
    const Cells cells(predictors, free, finer_->size());
    std::vector<double> sums(cells.size() * free, 0.0),
        own_sums(triangle(cells.size()) * packed, 0.0),
        cross_sums(cells.size() * cells_.size() * packed, 0.0), c(packed, 0.0);
    for (std::size_t g = 0; g < finer_->size(); ++g) {
      const std::span<const u32> active = cells.in(g);
      if (active.empty()) continue;
      const double* const y = &finer_counts_[g * states_.count];
      const std::size_t parent = groups_->group_of[finer_->row[g]];
      const double* const p = &p_[parent * states_.count];
      double n = 0.0;
      for (std::size_t s = 0; s < states_.count; ++s) n += y[s];
      covariance(states_, p, n, c.data());
      add_pairs(active, c.data(), packed, own_sums.data());
      for (const u32 cell : active) {
        for (std::size_t s = 0; s < free; ++s) sums[cell * free + s] += y[s + 1] - n * p[s + 1];
        add_cross(cells_.in(parent), c.data(), packed, &cross_sums[cell * cells_.size() * packed]);
      }
    }
    Effects result{std::vector<double>(cells.weights(), 0.0), symmetric(cells, own_sums)};
    cells.project(sums.data(), result.score.data());
    Matrix cross(cells.weights(), size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (std::size_t j = 0; j < cells_.size(); ++j)
        cells.each(i, cells_, j, &cross_sums[(i * cells_.size() + j) * packed],
                   [&](std::size_t k, std::size_t l, double x) { cross.at(k, l) += x; });
    factor_.solve_lower(cross);
    result.information.subtract(cross, cross);
    return result;
  }

  static double statistic(Effects effects) {
    const std::size_t size = effects.score.size();
    for (std::size_t k = 0; k < size; ++k) effects.information.at(k, k) += RIDGE;
    effects.information.factorize();
    Matrix score(1, size);
    std::copy(effects.score.begin(), effects.score.end(), score.row(0));
    effects.information.solve_lower(score);
    double sum = 0.0;
    for (std::size_t k = 0; k < size; ++k) sum += score.at(0, k) * score.at(0, k);
    return 0.5 * sum;
  }

  // Returns what literals of an option restrict if all its blocks have v and one other variable as
  // effects, and literals of other variables alone.
  std::optional<Switches> switches_of(const std::vector<Block>& option) const {
    Switches result{v_, {}};
    for (const Block& block : option) {
      if (block.effects.size() != 2) return std::nullopt;
      const u32 other = block.effects[block.effects[0] == v_];
      if (block.effects[0] != v_ && block.effects[1] != v_) return std::nullopt;
      if (result.first != v_ && result.first != other) return std::nullopt;
      result.first = other;
      for (const auto& [variable, allowed] : block.where) {
        if (variable == v_ || variable == other) return std::nullopt;
        result.second.insert(variable);
      }
    }
    if (result.second.empty()) return std::nullopt;
    return result;
  }

  // Returns which configurations of switches a block allows.
  std::vector<bool> configurations(const std::set<u32>& switches, const Block& block) const {
    std::vector<bool> result{true};
    for (const u32 variable : switches) {
      u64 allowed = ~u64{0};
      for (const auto& literal : block.where)
        if (literal.first == variable) allowed = literal.second;
      std::vector<bool> finer;
      for (const bool before : result)
        for (u32 s = 0; s < table_.cardinalities[variable]; ++s)
          finer.push_back(before && (allowed >> s & 1));
      result = std::move(finer);
    }
    return result;
  }

  // Returns parts whose unions are all blocks of some options, unless they would be more than
  // those.
  const Parts* parts_of(const Switches& switches,
                        const std::vector<const std::vector<Block>*>& options) {
    std::size_t all = 1;
    for (const u32 variable : switches.second) {
      all *= table_.cardinalities[variable];
      if (all > MOST_CONFIGURATIONS) return nullptr;
    }
    std::set<std::vector<bool>> contexts;
    for (const std::vector<Block>* const option : options)
      for (const Block& block : *option) contexts.insert(configurations(switches.second, block));
    const auto known = parts_.find(switches);
    if (known != parts_.end() &&
        std::all_of(contexts.begin(), contexts.end(),
                    [&](const auto& context) { return is_union(known->second, context); }))
      return &known->second;
    Parts parts;
    std::map<std::vector<bool>, int> numbers;
    for (std::size_t k = 0; k < all; ++k) {
      std::vector<bool> in;
      for (const std::vector<bool>& context : contexts) in.push_back(context[k]);
      const bool is_used = std::find(in.begin(), in.end(), true) != in.end();
      const int next = static_cast<int>(numbers.size());
      parts.of.push_back(is_used ? numbers.try_emplace(in, next).first->second : -1);
    }
    parts.count = numbers.size();
    const std::size_t width = table_.cardinalities[switches.first] - 1;
    if (parts.count > contexts.size() || parts.count * width * (states_.count - 1) > MOST_WEIGHTS)
      return nullptr;
    std::set<u32> variables = switches.second;
    refine((variables.insert(switches.first), variables));
    Predictor predictor;
    predictor.cells = parts.count * width;
    for (const u32 row : finer_->row) {
      std::size_t k = 0;
      for (const u32 u : switches.second) k = k * table_.cardinalities[u] + table_.columns[u][row];
      const int state = static_cast<int>(table_.columns[switches.first][row]), part = parts.of[k];
      predictor.cell.push_back(part < 0 || state == 0 ? -1
                                                      : part * static_cast<int>(width) + state - 1);
    }
    parts.effects = adapted({predictor});
    if (known != parts_.end()) parts_.erase(known);
    part_items_ += parts.effects.information.items();
    return &parts_.emplace(switches, std::move(parts)).first->second;
  }

  static bool is_union(const Parts& parts, const std::vector<bool>& context) {
    std::vector<int> inside(parts.count, -1);
    for (std::size_t k = 0; k < context.size(); ++k) {
      if (parts.of[k] < 0) {
        if (context[k]) return false;
        continue;
      }
      int& known = inside[static_cast<std::size_t>(parts.of[k])];
      if (known >= 0 && known != static_cast<int>(context[k])) return false;
      known = context[k];
    }
    return true;
  }

  // Returns the effects of blocks that are unions of parts.
  Effects joined(const Parts& parts, const Switches& switches,
                 const std::vector<Block>& option) const {
    const std::size_t width = parts.effects.score.size() / parts.count;
    std::vector<std::vector<std::size_t>> places;  // per block, where its parts begin
    for (const Block& block : option) {
      const std::vector<bool> context = configurations(switches.second, block);
      std::set<std::size_t> own;
      for (std::size_t k = 0; k < context.size(); ++k)
        if (context[k]) own.insert(static_cast<std::size_t>(parts.of[k]) * width);
      places.emplace_back(own.begin(), own.end());
    }
    Effects result{std::vector<double>(option.size() * width, 0.0), Matrix(option.size() * width)};
    for (std::size_t a = 0; a < option.size(); ++a)
      for (const std::size_t from : places[a]) {
        add(&result.score[a * width], &parts.effects.score[from], width);
        for (std::size_t b = 0; b <= a; ++b)
          for (const std::size_t to : places[b])
            for (std::size_t k = 0; k < width; ++k)
              for (std::size_t l = 0; l < width; ++l)
                result.information.at(a * width + k, b * width + l) += parts.effects.information.at(
                    std::max(from + k, to + l), std::min(from + k, to + l));
      }
    return result;
  }

  // The log-likelihood if the effect of one block is 1 + t times as large, and the others adapt.
  class Along {
   public:
    Along(const Logit& logit, std::size_t block)
        : logit_(logit),
          free_(logit.states_.count - 1),
          from_(logit.cells_.of(block + 1)),
          to_(logit.cells_.of(block + 2)),
          first_(logit.cells_.first(from_)),
          size_(logit.cells_.first(to_) - first_),
          own_(size_, logit.size()),
          variance_(size_) {
      // The factor lets this block adapt, too. Its part of the inverse is the size of that effect.
      for (std::size_t k = 0; k < size_; ++k) own_.at(k, first_ + k) = 1.0;
      logit.factor_.solve_lower(own_, first_);
      variance_.subtract(own_, own_, first_);
      for (std::size_t k = 0; k < size_; ++k)
        for (std::size_t l = 0; l <= k; ++l) variance_.at(k, l) *= -1.0;
      variance_.factorize();
      const std::vector<double> added = logit.cells_.added(logit.weights_);
      for (std::size_t g = 0; g < logit.groups_->size(); ++g)
        for (const u32 cell : logit.cells_.in(g))
          if (cell >= from_ && cell < to_) add_group(g, &added[cell * free_]);
    }

    // Returns the gradient for a t in each state of a variable, and minus the second derivatives.
    std::vector<double> by_states(u32 variable) const {
      const std::size_t card = logit_.table_.cardinalities[variable];
      const std::size_t length = logit_.cells_.size() * free_;
      std::vector<double> sums(card * length, 0.0), result(card + card * card, 0.0);
      for (std::size_t k = 0; k < groups_.size(); ++k) {
        const std::size_t state = logit_.table_.columns[variable][logit_.groups_->row[groups_[k]]];
        result[state] += gradients_[k];
        result[card + state * (card + 1)] += squares_[k];
        for (const u32 cell : logit_.cells_.in(groups_[k]))
          add(&sums[state * length + cell * free_], &with_[k * free_], free_);
      }
      Matrix rows(card, logit_.size()), adapted(card, size_);
      for (std::size_t s = 0; s < card; ++s) logit_.cells_.project(&sums[s * length], rows.row(s));
      logit_.factor_.solve_lower(rows);
      adapted.subtract(rows, own_, first_);
      variance_.solve_lower(adapted);
      Matrix both(card);  // minus the products of rows
      both.subtract(rows, rows);
      for (std::size_t s = 0; s < card; ++s)
        for (std::size_t t = 0; t <= s; ++t) {
          double change = both.at(s, t);
          for (std::size_t k = 0; k < size_; ++k) change += adapted.at(s, k) * adapted.at(t, k);
          result[card + s * card + t] += change;
          if (t < s) result[card + t * card + s] += change;
        }
      return result;
    }

   private:
    void add_group(std::size_t group, const double* effect) {
      const double n = logit_.totals_[group];
      const double* const p = &logit_.p_[group * (free_ + 1)] + 1;
      const double* const y = &logit_.counts_[group * (free_ + 1)] + 1;
      double mean = 0.0, gradient = 0.0, square = 0.0;
      for (std::size_t s = 0; s < free_; ++s) mean += p[s] * effect[s];
      for (std::size_t s = 0; s < free_; ++s) {
        with_.push_back(n * p[s] * (effect[s] - mean));
        gradient += (y[s] - n * p[s]) * effect[s];
        square += with_.back() * effect[s];
      }
      groups_.push_back(group);
      gradients_.push_back(gradient);
      squares_.push_back(square);
    }

    const Logit& logit_;
    std::size_t free_, from_, to_, first_, size_;
    Matrix own_;  // the block's columns, solved by the factor
    Matrix variance_;
    std::vector<std::size_t> groups_;  // where the block is active
    // Per such group: gradient and curvature, and the covariance of the states with the effect.
    std::vector<double> gradients_, squares_, with_;
  };

  static double penalty(const std::vector<double>& weights) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight * weight;
    return 0.5 * RIDGE * sum;
  }

  std::vector<Predictor> predictors(const std::vector<Block>& blocks) const {
    std::vector<Predictor> result{predictor_of({{v_}, {}}, v_, table_, groups_->row)};  // intercept
    for (const Block& block : blocks)
      result.push_back(predictor_of(block, v_, table_, groups_->row));
    return result;
  }

  // Makes the finer groups that more variables distinguish, unless they are the last ones.
  void refine(std::set<u32> variables) {
    variables.insert(groups_->variables.begin(), groups_->variables.end());
    if (finer_ && finer_->variables == variables) return;
    finer_ = std::make_unique<Groups>(table_.refined(*groups_, variables));
    finer_counts_ = table_.count(*finer_, v_);
  }

  // Computes the probabilities of v in each group and returns the log-likelihood.
  double evaluate(const std::vector<double>& weights, std::vector<double>& p) const {
    const std::vector<double> added = cells_.added(weights);
    const std::size_t card = states_.count;
    double likelihood = 0.0;
    for (std::size_t g = 0; g < groups_->size(); ++g) {
      double* const eta = &p[g * card];
      std::fill(eta, eta + card, 0.0);
      for (const u32 cell : cells_.in(g)) add(eta + 1, &added[cell * (card - 1)], card - 1);
      const double largest = *std::max_element(eta, eta + card);
      const double* const y = &counts_[g * card];
      for (std::size_t s = 0; s < card; ++s) {
        eta[s] -= largest;
        likelihood += y[s] * eta[s];
      }
    }
    exponentials(p.data(), p.size());
    for (std::size_t g = 0; g < groups_->size(); ++g) {
      double* const own = &p[g * card];
      double sum = 0.0;
      for (std::size_t s = 0; s < card; ++s) sum += own[s];
      likelihood -= totals_[g] * std::log(sum);
      for (std::size_t s = 0; s < card; ++s) own[s] /= sum;
    }
    return likelihood;
  }

  // Returns the gradient of the objective.
  std::vector<double> score() const {
    const std::size_t card = states_.count, free = card - 1;
    std::vector<double> sums(cells_.size() * free, 0.0), residual(free), result;
    for (std::size_t g = 0; g < groups_->size(); ++g) {
      for (std::size_t s = 0; s < free; ++s)
        residual[s] = counts_[g * card + s + 1] - totals_[g] * p_[g * card + s + 1];
      for (const u32 cell : cells_.in(g)) add(&sums[cell * free], residual.data(), free);
    }
    for (const double weight : weights_) result.push_back(-RIDGE * weight);
    cells_.project(sums.data(), result.data());
    return result;
  }

  // Returns the factor of the information of all weights.
  Matrix information() const {
    std::vector<double> sums(triangle(cells_.size()) * states_.packed, 0.0), c(states_.packed, 0.0);
    for (std::size_t g = 0; g < groups_->size(); ++g) {
      covariance(states_, &p_[g * states_.count], totals_[g], c.data());
      add_pairs(cells_.in(g), c.data(), states_.packed, sums.data());
    }
    Matrix result = symmetric(cells_, sums);
    for (std::size_t k = 0; k < size(); ++k) result.at(k, k) += RIDGE;
    result.factorize();
    return result;
  }

  // Returns the lower triangle of the information of weights from the sums of pairs of cells.
  Matrix symmetric(const Cells& cells, const std::vector<double>& sums) const {
    Matrix result(cells.weights());
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        cells.each(i, cells, j, &sums[(triangle(i) + j) * states_.packed],
                   [&](std::size_t k, std::size_t l, double x) {
                     if (l <= k) result.at(k, l) += x;
                   });
    return result;
  }

  const Table& table_;
  u32 v_;
  States states_;
  std::shared_ptr<const Groups> groups_;
  std::vector<double> counts_, totals_, p_;
  Cells cells_;
  std::vector<double> weights_;
  double log_likelihood_ = 0.0;
  Matrix factor_;
  std::unique_ptr<Groups> finer_;  // of the last call of `rao`
  std::vector<double> finer_counts_;
  std::map<Switches, Parts> parts_;
  std::size_t part_items_ = 0;
};

// The rows, with the last distributions: changes of the same one are asked for again and again.
class Rows {
 public:
  explicit Rows(Table table) : table_(std::move(table)) {}
  Rows(const Rows&) = delete;  // what is kept refers to the table

  const Table& table() const { return table_; }

  const Logit& fitted(u32 v, const std::vector<Block>& blocks, const std::vector<double>& start) {
    Logit logit(table_, v, blocks);
    logit.start(start);
    logit.fit();
    kept_.push_front({v, blocks, std::move(logit)});
    forget();
    return kept_.front().logit;
  }

  Logit& prepared(u32 v, const std::vector<Block>& blocks, const std::vector<double>& weights) {
    const auto same = [&](const Kept& kept) {
      return kept.v == v && kept.logit.weights() == weights && kept.blocks == blocks;
    };
    auto place = std::find_if(kept_.begin(), kept_.end(), same);
    if (place == kept_.end()) {
      kept_.push_front({v, blocks, {table_, v, blocks}});
      place = kept_.begin();
      place->logit.start(weights);
    }
    kept_.splice(kept_.begin(), kept_, place);
    kept_.front().logit.prepare();
    forget();
    return kept_.front().logit;
  }

 private:
  struct Kept {
    u32 v;
    std::vector<Block> blocks;
    Logit logit;
  };
  static constexpr std::size_t MOST_ITEMS = 1 << 23;  // of eight bytes, of what is kept

  // Forgets what was not used for longest, if it is too much.
  void forget() {
    std::size_t items = 0;
    const auto is_too_much = [&](const Kept& kept) {
      return (items += kept.logit.items()) > MOST_ITEMS && &kept != &kept_.front();
    };
    kept_.erase(std::find_if(kept_.begin(), kept_.end(), is_too_much), kept_.end());
  }

  Table table_;
  std::list<Kept> kept_;
};

}  // namespace contextwise::blocks

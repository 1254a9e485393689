// One conditional distribution: a multinomial logit whose predictors are blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "table.hpp"

namespace contextwise::blocks {

// The precision of the prior of each weight. It keeps weights finite where a state never occurs.
inline constexpr double RIDGE = 0.02;
inline constexpr int MOST_STEPS = 40, MOST_HALVINGS = 12;
inline constexpr double TOLERANCE = 1e-4, SMALL = 0.3;

// A symmetric matrix and its Cholesky factor, row by row in the lower triangle.
class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), items_(size * size, 0.0) {}

  std::size_t size() const { return size_; }
  double& at(std::size_t i, std::size_t j) { return items_[i * size_ + j]; }
  double at(std::size_t i, std::size_t j) const { return items_[i * size_ + j]; }
  const double* row(std::size_t i) const { return items_.data() + i * size_; }

  void factorize() {
    for (std::size_t i = 0; i < size_; ++i) {
      double* const row = items_.data() + i * size_;
      for (std::size_t j = 0; j <= i; ++j) {
        const double* const other = items_.data() + j * size_;
        double sum = row[j];
        for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
        row[j] = i == j ? std::sqrt(std::max(sum, 1e-10)) : sum / other[j];
      }
    }
  }
  // Solves L x = b in place, with the factor L.
  void solve_lower(double* x) const {
    for (std::size_t i = 0; i < size_; ++i) {
      const double* const factor = row(i);
      double sum = x[i];
      for (std::size_t k = 0; k < i; ++k) sum -= factor[k] * x[k];
      x[i] = sum / factor[i];
    }
  }
  // Solves the transpose of L x = b in place.
  void solve_upper(double* x) const {
    for (std::size_t i = size_; i-- > 0;) {
      x[i] /= at(i, i);
      for (std::size_t k = 0; k < i; ++k) x[k] -= at(i, k) * x[i];
    }
  }

 private:
  std::size_t size_;
  std::vector<double> items_;
};

// A block as a predictor of one variable v. If v is an effect, there is a weight for each cell of
// the other effects and each state of v except the reference. If a literal restricts v, there is a
// weight for each cell, which acts on the states that the literal allows.
struct Predictor {
  std::vector<int> cell;  // in each group, -1 where the block is not active
  std::size_t cells = 1, outputs = 1;
  bool is_effect = true;
  u64 states = 0;         // of v, if a literal restricts it
  std::size_t first = 0;  // the number of its first weight

  std::size_t weights() const { return cells * outputs; }
  // Whether the weight of an output acts on a state of v.
  bool acts(std::size_t output, std::size_t state) const {
    return is_effect ? state == output + 1 : (states >> state & 1) != 0;
  }
};

inline Predictor predictor_of(const Block& block, u32 v, u32 card, const Table& table,
                              const Groups& groups) {
  Predictor result;
  result.cell.assign(groups.size, 0);
  result.is_effect = false;
  for (const u32 effect : block.effects) {
    if (effect == v) {
      result.is_effect = true;
      continue;
    }
    const u32 width = table.cardinalities[effect] - 1;
    const std::vector<u32>& states = groups.states(effect);
    for (std::size_t g = 0; g < groups.size; ++g) {
      int& cell = result.cell[g];
      cell = cell < 0 || states[g] == 0
                 ? -1
                 : cell * static_cast<int>(width) + static_cast<int>(states[g]) - 1;
    }
    result.cells *= width;
  }
  for (const auto& [variable, allowed] : block.where) {
    if (variable == v) {
      result.states = allowed;
      continue;
    }
    const std::vector<u32>& states = groups.states(variable);
    for (std::size_t g = 0; g < groups.size; ++g)
      if (!(allowed >> states[g] & 1)) result.cell[g] = -1;
  }
  result.outputs = result.is_effect ? card - 1 : 1;
  return result;
}

// Numbers the weights of predictors and returns their number.
inline std::size_t number(std::vector<Predictor>& predictors) {
  std::size_t total = 0;
  for (Predictor& predictor : predictors) {
    predictor.first = total;
    total += predictor.weights();
  }
  return total;
}

// The covariance of the states of v, in one group, as two outputs of predictors see it.
inline double covariance(const Predictor& a, std::size_t i, const Predictor& b, std::size_t j,
                         const double* p, std::size_t card) {
  if (a.is_effect && b.is_effect)
    return i == j ? p[i + 1] * (1.0 - p[i + 1]) : -p[i + 1] * p[j + 1];
  double both = 0.0, first = 0.0, second = 0.0;
  for (std::size_t s = 0; s < card; ++s) {
    const bool x = a.acts(i, s), y = b.acts(j, s);
    first += x ? p[s] : 0.0;
    second += y ? p[s] : 0.0;
    both += x && y ? p[s] : 0.0;
  }
  return both - first * second;
}

// The predictors that are active in each group.
class Active {
 public:
  Active(const std::vector<Predictor>& predictors, std::size_t groups) : first_(groups + 1, 0) {
    for (std::size_t g = 0; g < groups; ++g) {
      for (const Predictor& predictor : predictors)
        if (predictor.cell[g] >= 0) items_.push_back(&predictor);
      first_[g + 1] = items_.size();
    }
  }

  std::span<const Predictor* const> in(std::size_t group) const {
    return {items_.data() + first_[group], first_[group + 1] - first_[group]};
  }

 private:
  std::vector<const Predictor*> items_;
  std::vector<std::size_t> first_;
};

// Calls `use(place, value)` for each weight of a predictor that is active in a group, with the
// score of the group: the observed minus the expected count of the states it acts on.
template <class Use>
void each_score(const Predictor& predictor, std::size_t group, const double* y, const double* p,
                double n, std::size_t card, const Use& use) {
  const std::size_t start =
      predictor.first + static_cast<std::size_t>(predictor.cell[group]) * predictor.outputs;
  for (std::size_t i = 0; i < predictor.outputs; ++i) {
    if (predictor.is_effect) {
      use(start + i, y[i + 1] - n * p[i + 1]);
      continue;
    }
    double score = 0.0;
    for (std::size_t s = 0; s < card; ++s)
      if (predictor.acts(i, s)) score += y[s] - n * p[s];
    use(start + i, score);
  }
}

// Calls `use(i, j, value)` for each pair of weights of two predictors that are active in a group.
template <class Use>
void each_information(const Predictor& a, const Predictor& b, std::size_t group,
                      std::size_t group_of_b, const double* p, double n, std::size_t card,
                      const Use& use) {
  const std::size_t i0 = a.first + static_cast<std::size_t>(a.cell[group]) * a.outputs;
  const std::size_t j0 = b.first + static_cast<std::size_t>(b.cell[group_of_b]) * b.outputs;
  for (std::size_t i = 0; i < a.outputs; ++i)
    for (std::size_t j = 0; j < b.outputs; ++j)
      use(i0 + i, j0 + j, n * covariance(a, i, b, j, p, card));
}

// The distribution of v given blocks, fitted by Newton's method.
class Logit {
 public:
  Logit(const Table& table, u32 v, const std::vector<Block>& blocks)
      : table_(table),
        v_(v),
        card_(table.cardinalities[v]),
        groups_(table.groups_by(variables_of(blocks, v))) {
    counts_ = table.count(*groups_, v);
    totals_.assign(groups_->size, 0.0);
    for (std::size_t k = 0; k < counts_.size(); ++k) totals_[k / card_] += counts_[k];
    predictors_.push_back(predictor_of({{v}, {}}, v, card_, table, *groups_));  // the intercept
    for (const Block& block : blocks)
      predictors_.push_back(predictor_of(block, v, card_, table, *groups_));
    weights_.assign(number(predictors_), 0.0);
    active_.emplace(predictors_, groups_->size);
    p_.assign(counts_.size(), 0.0);
  }

  std::size_t size() const { return weights_.size(); }
  const std::vector<double>& weights() const { return weights_; }
  double log_likelihood() const { return log_likelihood_; }

  void start(const std::vector<double>& weights) {
    if (weights.size() == weights_.size()) weights_ = weights;
    log_likelihood_ = evaluate(weights_, p_);
  }

  void fit() {
    double objective = log_likelihood_ - penalty(weights_);
    std::vector<double> step(size()), tried(size()), p(p_.size());
    for (int iteration = 0; iteration < MOST_STEPS; ++iteration) {
      for (std::size_t k = 0; k < size(); ++k) step[k] = -RIDGE * weights_[k];
      for (std::size_t g = 0; g < groups_->size; ++g)
        for (const Predictor* predictor : active_->in(g))
          each_score(*predictor, g, &counts_[g * card_], &p_[g * card_], totals_[g], card_,
                     [&](std::size_t k, double score) { step[k] += score; });
      const std::vector<double> gradient = step;
      const Matrix factor = information();
      factor.solve_lower(step.data());
      factor.solve_upper(step.data());
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

  void prepare() { factor_ = information(); }

  // Returns half of Rao's score statistic of more blocks: about how much a refit would gain.
  double rao(const std::vector<Block>& more) const {
    std::set<u32> variables = variables_of(more, v_);
    variables.insert(groups_->variables.begin(), groups_->variables.end());
    const std::shared_ptr<const Groups> shared = table_.groups_by(variables);
    const Groups& finer = *shared;
    std::vector<Predictor> added;
    for (const Block& block : more) added.push_back(predictor_of(block, v_, card_, table_, finer));
    const std::size_t size_added = number(added);
    std::vector<double> score(size_added, 0.0), cross(size_added * size(), 0.0);
    Matrix own(size_added);
    const std::vector<double> counts = table_.count(finer, v_);
    const std::vector<u32> parent = parents(finer);
    const Active active(added, finer.size);
    for (std::size_t g = 0; g < finer.size; ++g) {
      if (active.in(g).empty()) continue;
      const double* const y = &counts[g * card_];
      const double* const p = &p_[std::size_t{parent[g]} * card_];
      double n = 0.0;
      for (std::size_t s = 0; s < card_; ++s) n += y[s];
      for (const Predictor* a : active.in(g)) {
        each_score(*a, g, y, p, n, card_, [&](std::size_t k, double x) { score[k] += x; });
        for (const Predictor* b : active.in(g))
          each_information(*a, *b, g, g, p, n, card_,
                           [&](std::size_t i, std::size_t j, double x) { own.at(i, j) += x; });
        for (const Predictor* b : active_->in(parent[g]))
          each_information(
              *a, *b, g, parent[g], p, n, card_,
              [&](std::size_t i, std::size_t j, double x) { cross[i * size() + j] += x; });
      }
    }
    for (std::size_t i = 0; i < size_added; ++i) {
      factor_.solve_lower(&cross[i * size()]);
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0.0;
        for (std::size_t k = 0; k < size(); ++k)
          product += cross[i * size() + k] * cross[j * size() + k];
        own.at(i, j) -= product;
      }
      own.at(i, i) += RIDGE;
    }
    own.factorize();
    own.solve_lower(score.data());
    double statistic = 0.0;
    for (const double x : score) statistic += x * x;
    return 0.5 * statistic;
  }

 private:
  static double penalty(const std::vector<double>& weights) {
    double sum = 0.0;
    for (const double weight : weights) sum += weight * weight;
    return 0.5 * RIDGE * sum;
  }

  // Computes the probabilities of v in each group and returns the log-likelihood.
  double evaluate(const std::vector<double>& weights, std::vector<double>& p) const {
    double likelihood = 0.0;
    for (std::size_t g = 0; g < groups_->size; ++g) {
      double* const eta = &p[g * card_];
      std::fill(eta, eta + card_, 0.0);
      for (const Predictor& predictor : predictors_) {
        if (predictor.cell[g] < 0) continue;
        const double* const own =
            &weights[predictor.first +
                     static_cast<std::size_t>(predictor.cell[g]) * predictor.outputs];
        if (predictor.is_effect)
          for (std::size_t i = 0; i < predictor.outputs; ++i) eta[i + 1] += own[i];
        else
          for (std::size_t s = 0; s < card_; ++s)
            if (predictor.acts(0, s)) eta[s] += own[0];
      }
      const double largest = *std::max_element(eta, eta + card_);
      double sum = 0.0;
      for (std::size_t s = 0; s < card_; ++s) sum += std::exp(eta[s] - largest);
      const double log_sum = std::log(sum) + largest;
      for (std::size_t s = 0; s < card_; ++s) {
        if (counts_[g * card_ + s] > 0) likelihood += counts_[g * card_ + s] * (eta[s] - log_sum);
        eta[s] = std::exp(eta[s] - log_sum);
      }
    }
    return likelihood;
  }

  // Returns the factor of the information of all weights.
  Matrix information() const {
    Matrix result(size());
    for (std::size_t g = 0; g < groups_->size; ++g)
      for (const Predictor* a : active_->in(g))
        for (const Predictor* b : active_->in(g)) {
          if (b > a) break;  // the lower triangle is enough
          each_information(*a, *b, g, g, &p_[g * card_], totals_[g], card_,
                           [&](std::size_t i, std::size_t j, double x) { result.at(i, j) += x; });
        }
    for (std::size_t k = 0; k < size(); ++k) result.at(k, k) += RIDGE;
    result.factorize();
    return result;
  }

  // Returns the group here of each finer group.
  std::vector<u32> parents(const Groups& finer) const {
    std::vector<u32> result(finer.size, 0);
    for (std::size_t row = 0; row < table_.rows(); ++row)
      result[finer.group_of[row]] = groups_->group_of[row];
    return result;
  }

  const Table& table_;
  u32 v_;
  std::size_t card_;
  std::shared_ptr<const Groups> groups_;
  std::vector<double> counts_, totals_, p_, weights_;
  std::vector<Predictor> predictors_;
  std::optional<Active> active_;
  double log_likelihood_ = 0.0;
  Matrix factor_{0};
};

}  // namespace contextwise::blocks

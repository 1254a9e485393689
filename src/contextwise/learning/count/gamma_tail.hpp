// The upper tail of the gamma distribution, and whether it is above a level.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "scores.hpp"

namespace contextwise::count {

// Q(shape, x) = Γ(shape, x) / Γ(shape), by its series or its continued fraction.
inline double gamma_tail(double shape, double x) {
  if (x <= 0) return 1;
  constexpr double precision = 1e-16;
  const double front = std::exp(shape * std::log(x) - x - log_gamma(shape));
  if (x < shape + 1) {
    double term = 1 / shape, sum = term;
    for (double k = shape + 1; term > sum * precision; ++k) sum += term *= x / k;
    return 1 - front * sum;
  }
  constexpr double tiny = 1e-300;  // the method of Lentz
  double b = x + 1 - shape, c = 1 / tiny, d = 1 / b, fraction = d;
  for (double k = 1; k < 1e6; ++k) {
    const double numerator = k * (shape - k);
    b += 2;
    d = numerator * d + b;
    c = b + numerator / c;
    if (std::abs(d) < tiny) d = tiny;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    const double change = c * d;
    fraction *= change;
    if (std::abs(change - 1) < precision * 4) break;
  }
  return front * fraction;
}

// Tells whether Q(shape, x) > level. The x where it equals the level rises with the shape, so two
// known neighbours decide nearly every case; only x between them needs the tail itself.
class TailAbove {
 public:
  explicit TailAbove(double level)
      : level_(level), limits_(LAST - FIRST + 1, std::numeric_limits<double>::quiet_NaN()) {}

  bool operator()(double shape, double x) {
    const u64 k = (std::bit_cast<u64>(shape) >> SHIFT) - FIRST;
    if (shape > 0 && k < limits_.size() - 1) {
      if (x < limit(k)) return true;
      if (x > limit(k + 1)) return false;
    }
    return gamma_tail(shape, x) > level_;
  }

 private:
  // Shapes from 1/64 to 2^20 in 512 steps per power of two: the first bits of the number.
  static constexpr int SHIFT = 43;
  static constexpr u64 FIRST = std::bit_cast<u64>(1 / 64.0) >> SHIFT;
  static constexpr u64 LAST = std::bit_cast<u64>(1048576.0) >> SHIFT;

  double limit(u64 k) {
    double& known = limits_[k];
    if (std::isnan(known)) known = solve(std::bit_cast<double>((FIRST + k) << SHIFT));
    return known;
  }

  // The x with Q(shape, x) = level, by bisection. Errors are far below the distance of neighbours.
  double solve(double shape) const {
    double low = 0, high = shape + 1;
    while (gamma_tail(shape, high) > level_) low = std::exchange(high, high * 2);
    for (int k = 0; k < 60 && high - low > 1e-13 * high; ++k) {
      const double middle = (low + high) / 2;
      (gamma_tail(shape, middle) > level_ ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  double level_;
  std::vector<double> limits_;
};

}  // namespace contextwise::count

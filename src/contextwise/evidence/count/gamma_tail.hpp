// The upper tail of the gamma distribution.
#pragma once

#include <cmath>

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

}  // namespace contextwise::count

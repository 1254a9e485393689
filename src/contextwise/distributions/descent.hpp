// Coordinate descent on a penalized quadratic, and the matrix of that quadratic. It follows
// descend_in_python in proximal_newton.py line by line; read that first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace contextwise::descent {

constexpr int all_groups = 10;  // ALL_GROUPS in proximal_newton.py

// Called from time to time in long work. It may throw to end the work.
using Pause = std::function<void()>;

// A sparse matrix, row by row.
struct Matrix {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const double* data;

  // pull += change · row j
  void add(std::int64_t j, double change, double* pull) const {
    for (std::int64_t k = indptr[j]; k < indptr[j + 1]; ++k) pull[indices[k]] += change * data[k];
  }
};

inline double norm(const double* begin, std::int64_t size) {
  double total = 0;
  for (std::int64_t k = 0; k < size; ++k) total += begin[k] * begin[k];
  return size == 1 ? std::fabs(*begin) : std::sqrt(total);
}

// Moves one group. Returns its violation before the move.
inline double move(const Matrix& matrix, std::int64_t first, std::int64_t size, double curvature,
                   double price, double* x, double* pull, std::vector<double>& scratch) {
  double* target = scratch.data();
  const double length = norm(x + first, size);
  for (std::int64_t k = 0; k < size; ++k)
    target[k] = pull[first + k] + (length > 0 ? price / length * x[first + k] : 0.0);
  const double violation =
      length > 0 ? norm(target, size) : std::max(0.0, norm(target, size) - price);
  for (std::int64_t k = 0; k < size; ++k) target[k] = x[first + k] - pull[first + k] / curvature;
  const double reach = norm(target, size);
  const double kept = reach > 0 ? std::max(0.0, 1.0 - price / curvature / reach) : 0.0;
  for (std::int64_t k = 0; k < size; ++k) target[k] = kept * target[k] - x[first + k];
  for (std::int64_t k = 0; k < size; ++k) {
    if (target[k] == 0) continue;
    // exactly 0, without rounding
    x[first + k] = kept == 0 ? 0.0 : x[first + k] + target[k];
    matrix.add(first + k, target[k], pull);
  }
  return violation;
}

// The function to minimize; see the docstring of proximal_newton.py.
struct Quadratic {
  Matrix matrix;
  std::int64_t groups;
  const std::int64_t* bounds;  // start of each group, and the end of the last one
  const double* curvature;     // one per group
  const double* price;         // one per group
};

// Moves x to the minimum. `pull` is the gradient at x and is updated.
inline void descend(const Quadratic& model, int passes, double tolerance, double* x, double* pull,
                    const Pause& pause) {
  const std::int64_t* bounds = model.bounds;
  std::int64_t largest = 1;
  for (std::int64_t g = 0; g < model.groups; ++g)
    largest = std::max(largest, bounds[g + 1] - bounds[g]);
  std::vector<double> scratch(static_cast<std::size_t>(largest));
  bool visit_all = true;
  for (int done = 1; done <= passes; ++done) {
    if (done % all_groups == 0) pause();
    double violation = 0;
    for (std::int64_t g = 0; g < model.groups; ++g) {
      const std::int64_t first = bounds[g], size = bounds[g + 1] - first;
      if (model.curvature[g] <= 0) continue;
      if (!visit_all && norm(x + first, size) == 0) continue;
      violation = std::max(violation, move(model.matrix, first, size, model.curvature[g],
                                           model.price[g], x, pull, scratch));
    }
    if (violation <= tolerance && visit_all) break;
    visit_all = violation <= tolerance || done % all_groups == 0;
  }
}

// A sparse matrix that owns its arrays.
struct Triangle {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> indices;
  std::vector<double> data;
};

// Returns the upper triangle of Aᵀ D A over the chosen columns. The indices of each row of A must
// be sorted; a binary search then skips the entries below the diagonal.
inline Triangle upper_triangle(const Matrix& matrix, const Matrix& turned, std::int64_t columns,
                               const double* scale, const std::int64_t* column, std::int64_t size,
                               const Pause& pause) {
  Triangle upper;
  std::vector<double> total(static_cast<std::size_t>(columns), 0.0);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(columns), -1);
  std::vector<std::int32_t> place(static_cast<std::size_t>(columns), -1), touched;
  for (std::int64_t j = 0; j < size; ++j) place[column[j]] = static_cast<std::int32_t>(j);
  for (std::int64_t j = 0; j < size; ++j) {
    if (j % 64 == 63) pause();
    touched.clear();
    const auto chosen = static_cast<std::int32_t>(column[j]);
    for (std::int64_t t = turned.indptr[chosen]; t < turned.indptr[chosen + 1]; ++t) {
      const std::int64_t row = turned.indices[t];
      const double factor = scale[row] * turned.data[t];
      const std::int32_t* end = matrix.indices + matrix.indptr[row + 1];
      const std::int32_t* other =
          std::lower_bound(matrix.indices + matrix.indptr[row], end, chosen);
      for (const double* value = matrix.data + (other - matrix.indices); other != end;
           ++other, ++value) {
        if (seen[*other] != j) {
          seen[*other] = j;
          total[*other] = 0.0;
          if (place[*other] >= 0) touched.push_back(*other);
        }
        total[*other] += factor * *value;
      }
    }
    for (const std::int32_t other : touched) {
      upper.indices.push_back(place[other]);
      upper.data.push_back(total[other]);
    }
    upper.starts.push_back(static_cast<std::int64_t>(upper.indices.size()));
  }
  return upper;
}

// Returns both triangles. The columns of a row are not sorted.
inline Triangle mirrored(const Triangle& upper) {
  const std::size_t size = upper.starts.size() - 1;
  std::vector<std::int64_t> next(size + 1, 0);
  for (std::size_t j = 0; j < size; ++j)
    for (std::int64_t k = upper.starts[j]; k < upper.starts[j + 1]; ++k) {
      const auto other = static_cast<std::size_t>(upper.indices[k]);
      ++next[j + 1];
      if (other != j) ++next[other + 1];
    }
  for (std::size_t j = 0; j < size; ++j) next[j + 1] += next[j];
  Triangle both{next, std::vector<std::int32_t>(static_cast<std::size_t>(next[size])),
                std::vector<double>(static_cast<std::size_t>(next[size]))};
  const auto put = [&](std::size_t row, std::size_t column, double value) {
    const auto at = static_cast<std::size_t>(next[row]++);
    both.indices[at] = static_cast<std::int32_t>(column);
    both.data[at] = value;
  };
  for (std::size_t j = 0; j < size; ++j)
    for (std::int64_t k = upper.starts[j]; k < upper.starts[j + 1]; ++k) {
      const auto other = static_cast<std::size_t>(upper.indices[k]);
      put(j, other, upper.data[k]);
      if (other != j) put(other, j, upper.data[k]);
    }
  return both;
}

}  // namespace contextwise::descent

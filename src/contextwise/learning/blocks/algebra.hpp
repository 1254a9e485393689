// Dense vectors and symmetric matrices, with loops that vectorise.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../vectorised.hpp"

namespace contextwise::blocks {

// Subtracts from a tile of 2 x 4 numbers the products of two rows of `a` with four rows of `b`,
// over the columns from `first` to `last`. All rows are `stride` numbers apart, those of the tile,
// too.
CONTEXTWISE_VECTORISED inline void subtract_products(const double* a, const double* b,
                                                     std::size_t stride, std::size_t first,
                                                     std::size_t last, double* tile,
                                                     std::size_t tile_stride) {
  const double *const a0 = a, *const a1 = a + stride;
  const double *const b0 = b, *const b1 = b + stride, *const b2 = b + 2 * stride,
                      *const b3 = b + 3 * stride;
  double s00 = 0.0, s01 = 0.0, s02 = 0.0, s03 = 0.0, s10 = 0.0, s11 = 0.0, s12 = 0.0, s13 = 0.0;
#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13)
  for (std::size_t k = first; k < last; ++k) {
    s00 += a0[k] * b0[k];
    s01 += a0[k] * b1[k];
    s02 += a0[k] * b2[k];
    s03 += a0[k] * b3[k];
    s10 += a1[k] * b0[k];
    s11 += a1[k] * b1[k];
    s12 += a1[k] * b2[k];
    s13 += a1[k] * b3[k];
  }
  double *const t0 = tile, *const t1 = tile + tile_stride;
  t0[0] -= s00, t0[1] -= s01, t0[2] -= s02, t0[3] -= s03;
  t1[0] -= s10, t1[1] -= s11, t1[2] -= s12, t1[3] -= s13;
}

// Replaces numbers from -700 to 0 by their exponentials; smaller ones count as -700. The powers of
// two go into the exponent, and a Taylor series has the rest, at most ln(2) / 2.
CONTEXTWISE_VECTORISED inline void exponentials(double* numbers, std::size_t size) {
  constexpr double ROUND = 6755399441055744.0;  // 1.5 * 2^52: the last bits are a whole number
#pragma omp simd
  for (std::size_t k = 0; k < size; ++k) {
    const double x = numbers[k] < -700.0 ? -700.0 : numbers[k];
    const double shifted = x * 1.4426950408889634 + ROUND;
    const double whole = shifted - ROUND;
    const double r = x - whole * 0.6931471803691238 - whole * 1.9082149292705877e-10;
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    const std::uint64_t power = std::bit_cast<std::uint64_t>(shifted) << 52;
    numbers[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) + power);
  }
}

// A matrix, or the lower triangle of a symmetric one and its Cholesky factor. Rows and columns are
// padded to multiples of four with zeros.
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), stride_((columns + 3) / 4 * 4), items_((rows + 3) / 4 * 4 * stride_, 0.0) {}
  explicit Matrix(std::size_t size) : Matrix(size, size) {}

  std::size_t rows() const { return rows_; }
  std::size_t items() const { return items_.size(); }
  double& at(std::size_t i, std::size_t j) { return items_[i * stride_ + j]; }
  double at(std::size_t i, std::size_t j) const { return items_[i * stride_ + j]; }
  double* row(std::size_t i) { return items_.data() + i * stride_; }
  const double* row(std::size_t i) const { return items_.data() + i * stride_; }

  // Subtracts `a` times the transpose of `b`, or the lower triangle if both are the same. The
  // columns before `first` must be zero.
  void subtract(const Matrix& a, const Matrix& b, std::size_t first = 0) {
    for (std::size_t i = 0; i < a.rows_; i += 2)
      for (std::size_t j = 0; j < (&a == &b ? std::min(i + 2, b.rows_) : b.rows_); j += 4)
        subtract_products(a.row(i), b.row(j), a.stride_, first, a.stride_, row(i) + j, stride_);
  }
  void factorize() {
    for (std::size_t j = 0; j < rows_; j += 4)
      for (std::size_t i = j; i < rows_; i += 2) {
        subtract_products(row(i), row(j), stride_, 0, j, row(i) + j, stride_);
        for (std::size_t r = i; r < std::min(rows_, i + 2); ++r) {
          double* const own = row(r);
          for (std::size_t k = j; k <= std::min(r, j + 3); ++k) {
            for (std::size_t l = j; l < k; ++l) own[k] -= own[l] * at(k, l);
            own[k] = r == k ? std::sqrt(std::max(own[k], 1e-10)) : own[k] / at(k, k);
          }
        }
      }
  }
  // Solves L x = b in place for each row b, with the factor L. The columns before `first` must be
  // zero.
  void solve_lower(Matrix& sides, std::size_t first = 0) const {
    first -= first % 4;
    for (std::size_t i = 0; i < sides.rows_; i += 2)
      for (std::size_t j = first; j < rows_; j += 4) {
        subtract_products(sides.row(i), row(j), stride_, first, j, sides.row(i) + j, stride_);
        for (std::size_t r = i; r < std::min(sides.rows_, i + 2); ++r) {
          double* const own = sides.row(r);
          for (std::size_t k = j; k < std::min(rows_, j + 4); ++k) {
            for (std::size_t l = j; l < k; ++l) own[k] -= at(k, l) * own[l];
            own[k] /= at(k, k);
          }
        }
      }
  }
  // Solves the transpose of L x = b in place.
  void solve_upper(double* x) const {
    for (std::size_t i = rows_; i-- > 0;) {
      x[i] /= at(i, i);
      for (std::size_t k = 0; k < i; ++k) x[k] -= at(i, k) * x[i];
    }
  }

 private:
  std::size_t rows_, stride_;
  std::vector<double> items_;
};

}  // namespace contextwise::blocks

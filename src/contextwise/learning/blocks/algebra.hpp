// Dense vectors and symmetric matrices, with loops that vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

// Compiles a function for processors with fused multiply-add, too, and picks one at the start.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONTEXTWISE_VECTORISED __attribute__((target_clones("avx512f", "fma", "default"), noinline))
#else
#define CONTEXTWISE_VECTORISED
#endif

namespace contextwise::blocks {

// Subtracts from sums[0..3] the products of a vector with four rows, `stride` apart.
CONTEXTWISE_VECTORISED inline void subtract_products(const double* x, const double* rows,
                                                     std::size_t stride, std::size_t n,
                                                     double* sums) {
  const double *const r0 = rows, *const r1 = rows + stride, *const r2 = rows + 2 * stride,
                      *const r3 = rows + 3 * stride;
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (std::size_t k = 0; k < n; ++k) {
    s0 += x[k] * r0[k];
    s1 += x[k] * r1[k];
    s2 += x[k] * r2[k];
    s3 += x[k] * r3[k];
  }
  sums[0] -= s0;
  sums[1] -= s1;
  sums[2] -= s2;
  sums[3] -= s3;
}

// A symmetric matrix and its Cholesky factor, row by row in the lower triangle. Rows are padded to
// a multiple of four with rows of zeros that nothing reads.
class Matrix {
 public:
  explicit Matrix(std::size_t size)
      : size_(size), stride_((size + 3) / 4 * 4), items_(stride_ * stride_, 0.0) {}

  std::size_t size() const { return size_; }
  double& at(std::size_t i, std::size_t j) { return items_[i * stride_ + j]; }
  double at(std::size_t i, std::size_t j) const { return items_[i * stride_ + j]; }
  double* row(std::size_t i) { return items_.data() + i * stride_; }
  const double* row(std::size_t i) const { return items_.data() + i * stride_; }

  void factorize() {
    for (std::size_t j = 0; j < size_; j += 4)
      for (std::size_t i = j; i < size_; ++i) {
        double* const own = row(i);
        subtract_products(own, row(j), stride_, j, own + j);
        const std::size_t last = std::min(i, j + 3);
        for (std::size_t k = j; k <= last; ++k) {
          for (std::size_t l = j; l < k; ++l) own[k] -= own[l] * at(k, l);
          own[k] = i == k ? std::sqrt(std::max(own[k], 1e-10)) : own[k] / at(k, k);
        }
      }
  }
  // Solves L x = b in place, with the factor L. `x` has `padded()` items.
  void solve_lower(double* x) const {
    for (std::size_t j = 0; j < size_; j += 4) {
      subtract_products(x, row(j), stride_, j, x + j);
      for (std::size_t k = j; k < std::min(size_, j + 4); ++k) {
        for (std::size_t l = j; l < k; ++l) x[k] -= at(k, l) * x[l];
        x[k] /= at(k, k);
      }
    }
  }
  // Solves the transpose of L x = b in place.
  void solve_upper(double* x) const {
    for (std::size_t i = size_; i-- > 0;) {
      x[i] /= at(i, i);
      for (std::size_t k = 0; k < i; ++k) x[k] -= at(i, k) * x[i];
    }
  }
  std::size_t padded() const { return stride_; }

 private:
  std::size_t size_, stride_;
  std::vector<double> items_;
};

}  // namespace contextwise::blocks

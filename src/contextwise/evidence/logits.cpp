// The Python module `_logits`: sums by code for multinomial logits, and draws for small tables. Its
// readable twins are in logits.py and residual_products.py.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "../python_arrays.hpp"

using namespace nanobind::literals;
using contextwise::Array, contextwise::array_of, contextwise::check_signals, contextwise::NewArray;
namespace nb = nanobind;

namespace {

using Ints = Array<std::int64_t>;
using Shorts = Array<std::int32_t>;
using Floats = Array<double>;
using Size = std::size_t;

// Look for Ctrl-C after so many rows.
constexpr Size PATIENCE = 1 << 14;

// The terms of a logit: term k of a row with code c moves the slopes lows[k] to highs[k] by the
// entries from starts[k] + c * (highs[k] - lows[k]) on.
struct Layout {
  const std::int32_t* codes;
  Size rows, terms;
  const std::int64_t *starts, *lows, *highs;

  Layout(const Shorts& codes, const Ints& starts, const Ints& lows, const Ints& highs)
      : codes(codes.data()),
        rows(codes.shape(0)),
        terms(codes.shape(1)),
        starts(starts.data()),
        lows(lows.data()),
        highs(highs.data()) {}

  Size width(Size term) const { return static_cast<Size>(highs[term] - lows[term]); }
  Size place(Size row, Size term) const {
    return static_cast<Size>(starts[term]) +
           static_cast<Size>(codes[row * terms + term]) * width(term);
  }
};

std::tuple<NewArray<double>, double, NewArray<double>> evaluate(
    const Shorts& codes, const Ints& starts, const Ints& lows, const Ints& highs,
    const Floats& tables, const Floats& slopes, const Ints& states, const Floats& weights) {
  const Layout layout(codes, starts, lows, highs);
  const Size count = slopes.shape(0), width = slopes.shape(1);
  const double* slope = slopes.data();
  std::vector<double> gradient(tables.size(), 0.0), sum(width), score(width);
  double value = 0.0;
  NewArray<double> shares(nb::make_tuple(layout.rows, count), [&](double* p) {
    const nb::gil_scoped_release release;
    for (Size row = 0; row < layout.rows; ++row, p += count) {
      if (row % PATIENCE == PATIENCE - 1) check_signals();
      std::fill(sum.begin(), sum.end(), 0.0);
      for (Size term = 0; term < layout.terms; ++term) {
        const double* entry = tables.data() + layout.place(row, term);
        double* to = sum.data() + layout.lows[term];
        for (Size s = 0; s < layout.width(term); ++s) to[s] += entry[s];
      }
      double top = -INFINITY, total = 0.0;
      for (Size k = 0; k < count; ++k) {
        p[k] = 0.0;
        for (Size s = 0; s < width; ++s) p[k] += slope[k * width + s] * sum[s];
        top = std::max(top, p[k]);
      }
      const auto state = static_cast<Size>(states.data()[row]);
      const double own = p[state] - top, weight = weights.data()[row];
      for (Size k = 0; k < count; ++k) total += p[k] = std::exp(p[k] - top);
      value += weight * (own - std::log(total));
      for (Size s = 0; s < width; ++s) score[s] = slope[state * width + s];
      for (Size k = 0; k < count; ++k) {
        p[k] /= total;
        for (Size s = 0; s < width; ++s) score[s] -= p[k] * slope[k * width + s];
      }
      for (Size s = 0; s < width; ++s) score[s] *= weight;
      for (Size term = 0; term < layout.terms; ++term) {
        double* entry = gradient.data() + layout.place(row, term);
        const double* from = score.data() + layout.lows[term];
        for (Size s = 0; s < layout.width(term); ++s) entry[s] += from[s];
      }
    }
  });
  return {shares, value, array_of(gradient)};
}

NewArray<double> curvature(const Shorts& codes, const Ints& starts, const Ints& lows,
                           const Ints& highs, Size size, const Floats& shares, const Floats& slopes,
                           const Floats& weights) {
  const Layout layout(codes, starts, lows, highs);
  const Size count = slopes.shape(0), width = slopes.shape(1);
  const double* slope = slopes.data();
  std::vector<double> mean(width), spread(width * width);
  return {nb::make_tuple(size, size), [&](double* result) {
            const nb::gil_scoped_release release;
            std::fill(result, result + size * size, 0.0);
            for (Size row = 0; row < layout.rows; ++row) {
              if (row % PATIENCE == PATIENCE - 1) check_signals();
              const double* p = shares.data() + row * count;
              const double weight = weights.data()[row];
              std::fill(mean.begin(), mean.end(), 0.0);
              std::fill(spread.begin(), spread.end(), 0.0);
              for (Size k = 0; k < count; ++k) {
                const double* own = slope + k * width;
                for (Size s = 0; s < width; ++s) {
                  const double part = p[k] * own[s];
                  mean[s] += part;
                  for (Size t = 0; t < width; ++t) spread[s * width + t] += part * own[t];
                }
              }
              for (Size s = 0; s < width; ++s)
                for (Size t = 0; t < width; ++t) {
                  double& entry = spread[s * width + t];
                  entry = weight * (entry - mean[s] * mean[t]);
                }
              for (Size i = 0; i < layout.terms; ++i)
                for (Size j = i; j < layout.terms; ++j) {
                  const Size at = layout.place(row, i), column = layout.place(row, j);
                  const Size low = layout.lows[i], other = layout.lows[j];
                  for (Size s = 0; s < layout.width(i); ++s) {
                    double* to = result + (at + s) * size + column;
                    const double* from = spread.data() + (low + s) * width + other;
                    for (Size t = 0; t < layout.width(j); ++t) to[t] += from[t];
                  }
                }
            }
            for (Size i = 0; i < layout.terms; ++i) {  // the lower triangle
              const Size end =
                  i + 1 < layout.terms ? static_cast<Size>(layout.starts[i + 1]) : size;
              for (Size a = layout.starts[i]; a < end; ++a)
                for (Size b = end; b < size; ++b) result[b * size + a] = result[a * size + b];
            }
          }};
}

// The sums of values by the codes of each pair of columns; `starts` is where the codes of a column
// begin. Only the blocks of an earlier and a later column are filled.
NewArray<double> cross_sums(const Shorts& codes, const Ints& starts, Size size,
                            const Floats& values) {
  const Size rows = codes.shape(0), columns = codes.shape(1), width = values.shape(1);
  return {nb::make_tuple(size, size, width), [&](double* result) {
            const nb::gil_scoped_release release;
            std::fill(result, result + size * size * width, 0.0);
            for (Size row = 0; row < rows; ++row) {
              if (row % PATIENCE == PATIENCE - 1) check_signals();
              const std::int32_t* code = codes.data() + row * columns;
              const double* from = values.data() + row * width;
              for (Size i = 0; i < columns; ++i)
                for (Size j = i + 1; j < columns; ++j) {
                  const Size at = starts.data()[i] + code[i], other = starts.data()[j] + code[j];
                  double* to = result + (at * size + other) * width;
                  for (Size s = 0; s < width; ++s) to[s] += from[s];
                }
            }
          }};
}

// The sums of values by code, for all columns; `starts` is where the codes of a column begin.
NewArray<double> sums_by_code(const Shorts& codes, const Ints& starts, Size size,
                              const Floats& values) {
  const Size rows = codes.shape(0), columns = codes.shape(1), width = values.shape(1);
  return {nb::make_tuple(size, width), [&](double* result) {
            const nb::gil_scoped_release release;
            std::fill(result, result + size * width, 0.0);
            for (Size row = 0; row < rows; ++row) {
              if (row % PATIENCE == PATIENCE - 1) check_signals();
              const double* from = values.data() + row * width;
              for (Size i = 0; i < columns; ++i) {
                double* to = result + (starts.data()[i] + codes.data()[row * columns + i]) * width;
                for (Size s = 0; s < width; ++s) to[s] += from[s];
              }
            }
          }};
}

// Number k of the stream of splitmix64, between 0 and 1.
double uniform(std::uint64_t seed, std::uint64_t k) {
  std::uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

// Sums of `left` by drawn state of b: each row is drawn by its cumulated shares, or, if `permuted`
// has states, these are dealt to the rows in a random order. One sum per draw from `first` on.
NewArray<double> drawn_sums(const Floats& left, const Floats& cumulated, const Ints& permuted,
                            std::uint64_t seed, Size first, Size draws) {
  const Size rows = left.shape(0), width = left.shape(1), states = cumulated.shape(1);
  const bool permutes = permuted.size() > 0;
  return {nb::make_tuple(draws, states, width), [&](double* result) {
            const nb::gil_scoped_release release;
            std::fill(result, result + draws * states * width, 0.0);
            std::vector<double> keys(permutes ? rows : 0);
            std::vector<Size> order(keys.size());
            for (Size draw = 0; draw < draws; ++draw, result += states * width) {
              check_signals();
              const std::uint64_t base = (first + draw) * rows;
              if (permutes) {
                for (Size row = 0; row < rows; ++row) keys[row] = uniform(seed, base + row);
                std::iota(order.begin(), order.end(), Size{0});
                std::sort(order.begin(), order.end(),
                          [&](Size a, Size b) { return keys[a] < keys[b]; });
              }
              for (Size row = 0; row < rows; ++row) {
                Size state = 0;
                if (permutes) {
                  state = static_cast<Size>(permuted.data()[order[row]]);
                } else {
                  const double u = uniform(seed, base + row);
                  const double* edge = cumulated.data() + row * states;
                  while (state + 1 < states && u > edge[state]) ++state;
                }
                const double* from = left.data() + row * width;
                double* to = result + state * width;
                for (Size s = 0; s < width; ++s) to[s] += from[s];
              }
            }
          }};
}

}  // namespace

NB_MODULE(_logits, module) {
  module.doc() = "The compiled twins of contextwise.evidence.logits and residual_products.";
  nb::set_leak_warnings(false);
  module.def("evaluate", &evaluate, "codes"_a, "starts"_a, "lows"_a, "highs"_a, "tables"_a,
             "slopes"_a, "states"_a, "weights"_a,
             "Return shares, log-likelihood, and its gradient by code.");
  module.def("curvature", &curvature, "codes"_a, "starts"_a, "lows"_a, "highs"_a, "size"_a,
             "shares"_a, "slopes"_a, "weights"_a,
             "Return the negative Hessian of the log-likelihood by code.");
  module.def("cross_sums", &cross_sums, "codes"_a, "starts"_a, "size"_a, "values"_a,
             "Return the sums of values by the codes of each pair of columns.");
  module.def("sums_by_code", &sums_by_code, "codes"_a, "starts"_a, "size"_a, "values"_a,
             "Return the sums of values by code, for all columns.");
  module.def("drawn_sums", &drawn_sums, "left"_a, "cumulated"_a, "permuted"_a, "seed"_a, "first"_a,
             "draws"_a, "Return the sums of rows by drawn state, for some draws.");
}

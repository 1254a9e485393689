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
#include "../vectorised.hpp"

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
// values of its functions at c times their coefficients, which begin at places[k].
struct Layout {
  const std::int32_t* codes;
  Size rows, terms;
  const std::int64_t *starts, *lows, *highs, *functions;
  std::vector<Size> counts, places;
  std::vector<const double*> bases;
  Size size = 0;  // the number of coefficients

  Layout(const Shorts& codes, const Ints& starts, const Ints& lows, const Ints& highs,
         const Ints& functions, const Floats& bases)
      : codes(codes.data()),
        rows(codes.shape(0)),
        terms(codes.shape(1)),
        starts(starts.data()),
        lows(lows.data()),
        highs(highs.data()),
        functions(functions.data()) {
    const double* basis = bases.data();
    for (Size k = 0; k < terms; ++k) {
      counts.push_back(static_cast<Size>(starts.data()[k + 1] - starts.data()[k]) / width(k));
      places.push_back(size);
      this->bases.push_back(basis);
      basis += counts[k] * many(k);
      size += many(k) * width(k);
    }
  }

  Size many(Size term) const { return static_cast<Size>(functions[term]); }
  Size width(Size term) const { return static_cast<Size>(highs[term] - lows[term]); }
  Size place(Size row, Size term) const {
    return static_cast<Size>(starts[term]) +
           static_cast<Size>(codes[row * terms + term]) * width(term);
  }

  // Calls `visit` with each value of a basis, and the places of its coefficients and table entries.
  template <class Visit>
  void each_value(Visit visit) const {
    for (Size k = 0; k < terms; ++k)
      for (Size c = 0; c < counts[k]; ++c)
        for (Size f = 0; f < many(k); ++f)
          visit(bases[k][c * many(k) + f], places[k] + f * width(k),
                static_cast<Size>(starts[k]) + c * width(k), width(k));
  }
};

// The slopes of the states of a response, state by state.
struct Slopes {
  const double* values;
  Size count, width;

  explicit Slopes(const Floats& slopes)
      : values(slopes.data()), count(slopes.shape(0)), width(slopes.shape(1)) {}
};

// Writes the shares of the rows from `first` to `last`, adds to the gradient by code, and returns
// the log-likelihood. `buffer` has place for two numbers per slope.
CONTEXTWISE_VECTORISED double add_rows(const Layout& layout, const Slopes& slopes,
                                       const double* tables, const std::int64_t* states,
                                       const double* weights, Size first, Size last, double* shares,
                                       double* gradient, double* buffer) {
  const Size count = slopes.count, width = slopes.width;
  double *const sum = buffer, *const score = buffer + width, value = 0.0;
  for (Size row = first; row < last; ++row) {
    double* const p = shares + row * count;
    std::fill(sum, sum + width, 0.0);
    for (Size term = 0; term < layout.terms; ++term) {
      const double* entry = tables + layout.place(row, term);
      double* to = sum + layout.lows[term];
      for (Size s = 0; s < layout.width(term); ++s) to[s] += entry[s];
    }
    double top = -INFINITY, total = 0.0;
    for (Size k = 0; k < count; ++k) {
      const double* slope = slopes.values + k * width;
      double eta = 0.0;
      for (Size s = 0; s < width; ++s) eta += slope[s] * sum[s];
      p[k] = eta;
      top = std::max(top, eta);
    }
    const auto state = static_cast<Size>(states[row]);
    const double own = p[state] - top, weight = weights[row];
    for (Size k = 0; k < count; ++k) total += p[k] = std::exp(p[k] - top);
    value += weight * (own - std::log(total));
    const double* of_state = slopes.values + state * width;
    for (Size s = 0; s < width; ++s) score[s] = weight * of_state[s];
    for (Size k = 0; k < count; ++k) {
      const double* slope = slopes.values + k * width;
      p[k] /= total;
      const double part = weight * p[k];
      for (Size s = 0; s < width; ++s) score[s] -= part * slope[s];
    }
    for (Size term = 0; term < layout.terms; ++term) {
      double* entry = gradient + layout.place(row, term);
      const double* from = score + layout.lows[term];
      for (Size s = 0; s < layout.width(term); ++s) entry[s] += from[s];
    }
  }
  return value;
}

// The same for two states: one slope, and one exponential per row.
CONTEXTWISE_VECTORISED double add_rows_of_two(const Layout& layout, const Slopes& slopes,
                                              const double* tables, const std::int64_t* states,
                                              const double* weights, Size first, Size last,
                                              double* shares, double* gradient) {
  const double between = slopes.values[1] - slopes.values[0];
  double value = 0.0;
  for (Size row = first; row < last; ++row) {
    const std::int32_t* code = layout.codes + row * layout.terms;
    double sum = 0.0;
    for (Size term = 0; term < layout.terms; ++term)
      sum += tables[layout.starts[term] + code[term]];
    const double eta = between * sum, small = std::exp(-std::abs(eta));
    const double larger = 1 / (1 + small), second = eta > 0 ? larger : small * larger;
    shares[2 * row] = eta > 0 ? small * larger : larger;
    shares[2 * row + 1] = second;
    const bool is_second = states[row] == 1;
    value += weights[row] * (std::min(is_second ? eta : -eta, 0.0) - std::log1p(small));
    const double score = weights[row] * between * (is_second - second);
    for (Size term = 0; term < layout.terms; ++term)
      gradient[layout.starts[term] + code[term]] += score;
  }
  return value;
}

std::tuple<NewArray<double>, double, NewArray<double>> evaluate(
    const Shorts& codes, const Ints& starts, const Ints& lows, const Ints& highs,
    const Ints& functions, const Floats& bases, const Floats& theta, const Floats& slopes,
    const Ints& states, const Floats& weights) {
  const Layout layout(codes, starts, lows, highs, functions, bases);
  const Slopes response(slopes);
  const auto entries = static_cast<Size>(starts.data()[layout.terms]);
  std::vector<double> tables(entries, 0.0), by_code(entries, 0.0), gradient(layout.size, 0.0),
      buffer(2 * response.width);
  layout.each_value([&](double value, Size from, Size to, Size width) {
    for (Size s = 0; s < width; ++s) tables[to + s] += value * theta.data()[from + s];
  });
  double value = 0.0;
  NewArray<double> shares(nb::make_tuple(layout.rows, response.count), [&](double* p) {
    const nb::gil_scoped_release release;
    for (Size first = 0; first < layout.rows; first += PATIENCE) {
      check_signals();
      const Size last = std::min(first + PATIENCE, layout.rows);
      value += response.count == 2 && response.width == 1
                   ? add_rows_of_two(layout, response, tables.data(), states.data(), weights.data(),
                                     first, last, p, by_code.data())
                   : add_rows(layout, response, tables.data(), states.data(), weights.data(), first,
                              last, p, by_code.data(), buffer.data());
    }
  });
  layout.each_value([&](double value, Size to, Size from, Size width) {
    for (Size s = 0; s < width; ++s) gradient[to + s] += value * by_code[from + s];
  });
  return {shares, value, array_of(gradient)};
}

constexpr Size triangle(Size width) { return width * (width + 1) / 2; }

// The sums of the covariances of the slopes by the codes of each pair of terms. A block of a pair
// is a triangle of slopes 0 to the larger `high` of both, column by column.
struct Blocks {
  struct Pair {
    Size first, second, others, start, size;  // others: the codes of the second; 0: of itself
  };
  std::vector<Pair> pairs;
  std::vector<double> sums;

  explicit Blocks(const Layout& layout) {
    const auto& codes = layout.counts;
    Size total = 0;
    for (Size i = 0; i < layout.terms; ++i)
      for (Size j = i; j < layout.terms; ++j) {
        const Size size = triangle(static_cast<Size>(std::max(layout.highs[i], layout.highs[j])));
        pairs.push_back({i, j, i == j ? 0 : codes[j], total, size});
        total += codes[i] * (i == j ? 1 : codes[j]) * size;
      }
    sums.assign(total, 0.0);
  }
};

// Adds the rows from `first` to `last`. `products` has the triangle of products of two slopes for
// each state; `buffer` has place for one of them and the means.
CONTEXTWISE_VECTORISED void add_covariances(const Layout& layout, const Slopes& slopes,
                                            const double* products, const double* shares,
                                            const double* weights, Size first, Size last,
                                            Blocks& blocks, double* buffer) {
  const Size count = slopes.count, width = slopes.width, size = triangle(width);
  double *const spread = buffer, *const mean = buffer + size;
  for (Size row = first; row < last; ++row) {
    const double* p = shares + row * count;
    const double weight = weights[row];
    std::fill(buffer, buffer + size + width, 0.0);
    for (Size k = 0; k < count; ++k) {
      const double *slope = slopes.values + k * width, *product = products + k * size;
      for (Size s = 0; s < width; ++s) mean[s] += p[k] * slope[s];
      for (Size x = 0; x < size; ++x) spread[x] += p[k] * product[x];
    }
    for (Size t = 0, x = 0; t < width; ++t)
      for (Size s = 0; s <= t; ++s, ++x) spread[x] = weight * (spread[x] - mean[s] * mean[t]);
    const std::int32_t* code = layout.codes + row * layout.terms;
    for (const auto& pair : blocks.pairs) {
      const auto one = static_cast<Size>(code[pair.first]);
      const Size at = pair.others ? one * pair.others + static_cast<Size>(code[pair.second]) : one;
      double* to = blocks.sums.data() + pair.start + at * pair.size;
      for (Size x = 0; x < pair.size; ++x) to[x] += spread[x];
    }
  }
}

// Adds to the Hessian the blocks of a pair of terms, multiplied by the bases of both.
CONTEXTWISE_VECTORISED void expand(const Layout& layout, const Blocks::Pair& pair,
                                   const double* from, double* result) {
  const Size i = pair.first, j = pair.second, wide = layout.width(i), other = layout.width(j);
  const Size many = layout.many(i), others = layout.many(j), codes = layout.counts[j];
  const Size block = wide * other;
  std::vector<double> entry(block), half(many * codes * block, 0.0);
  for (Size c = 0; c < layout.counts[i]; ++c)
    for (Size d = i == j ? c : 0; d < (i == j ? c + 1 : codes); ++d, from += pair.size) {
      for (Size s = 0; s < wide; ++s)
        for (Size t = 0; t < other; ++t) {
          const Size left = layout.lows[i] + s, right = layout.lows[j] + t;
          entry[s * other + t] = from[triangle(std::max(left, right)) + std::min(left, right)];
        }
      for (Size f = 0; f < many; ++f) {
        const double value = layout.bases[i][c * many + f];
        double* to = half.data() + (f * codes + d) * block;
        for (Size x = 0; x < block; ++x) to[x] += value * entry[x];
      }
    }
  for (Size f = 0; f < many; ++f)
    for (Size d = 0; d < codes; ++d)
      for (Size g = 0; g < others; ++g) {
        const double value = layout.bases[j][d * others + g];
        const double* with = half.data() + (f * codes + d) * block;
        double* to =
            result + (layout.places[i] + f * wide) * layout.size + layout.places[j] + g * other;
        for (Size s = 0; s < wide; ++s)
          for (Size t = 0; t < other; ++t) to[s * layout.size + t] += value * with[s * other + t];
      }
}

NewArray<double> curvature(const Shorts& codes, const Ints& starts, const Ints& lows,
                           const Ints& highs, const Ints& functions, const Floats& bases,
                           const Floats& shares, const Floats& slopes, const Floats& weights) {
  const Layout layout(codes, starts, lows, highs, functions, bases);
  const Slopes response(slopes);
  const Size width = response.width, size = layout.size;
  std::vector<double> products, buffer(triangle(width) + width);
  for (Size k = 0; k < response.count; ++k)
    for (Size t = 0; t < width; ++t)
      for (Size s = 0; s <= t; ++s)
        products.push_back(response.values[k * width + s] * response.values[k * width + t]);
  Blocks blocks(layout);
  return {nb::make_tuple(size, size), [&](double* result) {
            const nb::gil_scoped_release release;
            std::fill(result, result + size * size, 0.0);
            for (Size first = 0; first < layout.rows; first += PATIENCE) {
              check_signals();
              add_covariances(layout, response, products.data(), shares.data(), weights.data(),
                              first, std::min(first + PATIENCE, layout.rows), blocks,
                              buffer.data());
            }
            for (const auto& pair : blocks.pairs)
              expand(layout, pair, blocks.sums.data() + pair.start, result);
            for (Size a = 0; a < size; ++a)
              for (Size b = 0; b < a; ++b) result[a * size + b] = result[b * size + a];
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
  module.def("evaluate", &evaluate, "codes"_a, "starts"_a, "lows"_a, "highs"_a, "functions"_a,
             "bases"_a, "theta"_a, "slopes"_a, "states"_a, "weights"_a,
             "Return shares, log-likelihood, and its gradient.");
  module.def("curvature", &curvature, "codes"_a, "starts"_a, "lows"_a, "highs"_a, "functions"_a,
             "bases"_a, "shares"_a, "slopes"_a, "weights"_a,
             "Return the negative Hessian of the log-likelihood.");
  module.def("cross_sums", &cross_sums, "codes"_a, "starts"_a, "size"_a, "values"_a,
             "Return the sums of values by the codes of each pair of columns.");
  module.def("sums_by_code", &sums_by_code, "codes"_a, "starts"_a, "size"_a, "values"_a,
             "Return the sums of values by code, for all columns.");
  module.def("drawn_sums", &drawn_sums, "left"_a, "cumulated"_a, "permuted"_a, "seed"_a, "first"_a,
             "draws"_a, "Return the sums of rows by drawn state, for some draws.");
}

// Tests coordinate descent on random quadratics, for the sanitizers. The argument is a seed.
#include "descent.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

using namespace contextwise::descent;

namespace {

std::mt19937_64 rng;

std::int64_t below(std::int64_t limit) {
  return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(rng);
}

double number() { return std::uniform_real_distribution<double>(-1, 1)(rng); }

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "descent_test: %s\n", what);
  std::exit(1);
}

using Dense = std::vector<std::vector<double>>;

// Returns the nonzero entries of a dense matrix.
Triangle sparse(const Dense& rows) {
  Triangle result;
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k)
      if (row[k] != 0) {
        result.indices.push_back(static_cast<std::int32_t>(k));
        result.data.push_back(row[k]);
      }
    result.starts.push_back(static_cast<std::int64_t>(result.indices.size()));
  }
  return result;
}

Matrix view(const Triangle& of) { return {of.starts.data(), of.indices.data(), of.data.data()}; }

Dense turned(const Dense& rows, std::size_t columns) {
  Dense result(columns, std::vector<double>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t k = 0; k < columns; ++k) result[k][r] = rows[r][k];
  return result;
}

// Returns Aᵀ D A over some columns.
Dense product(const Dense& a, const std::vector<double>& scale,
              const std::vector<std::int64_t>& columns) {
  Dense result(columns.size(), std::vector<double>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::size_t r = 0; r < a.size(); ++r)
        result[i][j] += scale[r] * a[r][columns[i]] * a[r][columns[j]];
  return result;
}

double price_of(const Quadratic& model, const std::vector<double>& x) {
  double total = 0;
  for (std::int64_t g = 0; g < model.groups; ++g)
    total +=
        model.price[g] * norm(x.data() + model.bounds[g], model.bounds[g + 1] - model.bounds[g]);
  return total;
}

void check_random_quadratic() {
  const auto rows = static_cast<std::size_t>(below(12));
  const auto columns = static_cast<std::size_t>(1 + below(12));
  Dense a(rows, std::vector<double>(columns));
  for (auto& row : a)
    for (double& entry : row) entry = below(3) == 0 ? number() : 0.0;
  std::vector<double> scale;
  for (std::size_t r = 0; r < rows; ++r) scale.push_back(number() + 1.0);
  std::vector<std::int64_t> chosen;
  for (std::size_t k = 0; k < columns; ++k)
    if (below(4) > 0) chosen.push_back(static_cast<std::int64_t>(k));
  const Triangle by_row = sparse(a), by_column = sparse(turned(a, columns));
  const auto size = static_cast<std::int64_t>(chosen.size());
  int pauses = 0;
  const Pause count = [&] { ++pauses; };
  const Triangle result =
      mirrored(upper_triangle(view(by_row), view(by_column), static_cast<std::int64_t>(columns),
                              scale.data(), chosen.data(), size, count));

  const Dense wanted = product(a, scale, chosen);
  Dense made(chosen.size(), std::vector<double>(chosen.size()));
  for (std::size_t j = 0; j < chosen.size(); ++j)
    for (std::int64_t k = result.starts[j]; k < result.starts[j + 1]; ++k)
      made[j][static_cast<std::size_t>(result.indices[k])] += result.data[k];
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (std::size_t j = 0; j < chosen.size(); ++j)
      expect(std::fabs(made[i][j] - wanted[i][j]) < 1e-12, "the matrix is the product");

  std::vector<std::int64_t> bounds{0};
  while (bounds.back() < size) bounds.push_back(std::min(size, bounds.back() + 1 + below(3)));
  std::vector<double> curvature, price;
  for (std::size_t g = 0; g + 1 < bounds.size(); ++g) {
    double total = 0;  // the trace bounds the largest eigenvalue
    for (std::int64_t k = bounds[g]; k < bounds[g + 1]; ++k)
      total += wanted[static_cast<std::size_t>(k)][static_cast<std::size_t>(k)];
    curvature.push_back(total);
    price.push_back(std::fabs(number()));
  }
  const Quadratic model{view(result), static_cast<std::int64_t>(curvature.size()), bounds.data(),
                        curvature.data(), price.data()};
  std::vector<double> x, gradient;
  for (std::int64_t k = 0; k < size; ++k) x.push_back(below(2) ? number() : 0.0);
  for (std::int64_t k = 0; k < size; ++k) gradient.push_back(number());
  const std::vector<double> start = x;
  const auto value = [&](const std::vector<double>& at) {
    double total = price_of(model, at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      total += gradient[i] * (at[i] - start[i]);
      for (std::size_t j = 0; j < at.size(); ++j)
        total += 0.5 * wanted[i][j] * (at[i] - start[i]) * (at[j] - start[j]);
    }
    return total;
  };
  double before = value(x);
  std::vector<double> pull = gradient;
  for (int turn = 0; turn < 3; ++turn) {
    descend(model, 15, 1e-9, x.data(), pull.data(), count);
    expect(value(x) <= before + 1e-9, "no pass makes things worse");
    before = value(x);
  }
}

// A pause that throws ends the work.
void check_stop() {
  const std::vector<std::int64_t> starts{0, 2, 4}, bounds{0, 1, 2};
  const std::vector<std::int32_t> indices{0, 1, 0, 1};
  const std::vector<double> data{1.0, 0.999, 0.999, 1.0}, curvature{1.0, 1.0}, price{0.0, 0.0};
  const Quadratic model{{starts.data(), indices.data(), data.data()},
                        2,
                        bounds.data(),
                        curvature.data(),
                        price.data()};
  std::vector<double> x{0.0, 0.0}, pull{1.0, -1.0};
  bool stopped = false;
  try {
    descend(model, 1000, 0.0, x.data(), pull.data(), [] { throw 1; });
  } catch (int) {
    stopped = true;
  }
  expect(stopped, "a pause may end the work");
}

}  // namespace

int main(int count, char** arguments) {
  rng.seed(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1);
  for (int trial = 0; trial < 300; ++trial) check_random_quadratic();
  check_stop();
  std::puts("descent_test: all well");
}

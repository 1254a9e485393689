// Tests the growth of trees on random rows, for the sanitizers: on one and several threads,
// and stopped early. The argument is a seed.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "trees.hpp"

using namespace contextwise::grow;

namespace {

std::mt19937_64 rng;

std::size_t below(std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(rng);
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "growth_test: %s\n", what);
  std::exit(1);
}

bool same(const std::vector<Tree>& a, const std::vector<Tree>& b) {
  return std::ranges::equal(a, b, [](const Tree& x, const Tree& y) {
    return x.variables == y.variables && x.values == y.values && x.counts == y.counts;
  });
}

// Checks that every row is at one leaf and that a tree has one leaf more than tests.
void check(const std::vector<Tree>& trees, const Columns& columns) {
  expect(trees.size() == columns.variables(), "one tree per variable");
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const Tree& tree = trees[t];
    const std::size_t leaves = tree.counts.size() / columns.cardinalities[t];
    expect(tree.variables.size() == 2 * leaves - 1, "as many leaves as nodes need");
    const std::int64_t total =
        std::accumulate(tree.counts.begin(), tree.counts.end(), std::int64_t{0});
    expect(total == static_cast<std::int64_t>(columns.rows), "every row at one leaf");
  }
}

void check_random_rows() {
  const std::size_t cards[] = {1, 2, 2, 2, 3, 65, 200};
  const std::size_t rows = below(1500), variables = 1 + below(8);
  std::vector<u32> cardinalities;
  std::vector<std::int32_t> codes;
  for (std::size_t v = 0; v < variables; ++v) {
    const std::size_t card = cards[below(std::size(cards))];
    cardinalities.push_back(static_cast<u32>(card));
    for (std::size_t r = 0; r < rows; ++r) {
      const bool copied = v > 0 && below(4) > 0;
      const auto before =
          copied ? static_cast<std::size_t>(codes[(v - 1) * rows + r]) : below(card);
      codes.push_back(static_cast<std::int32_t>(before % card));
    }
  }
  const Columns columns(codes.data(), rows, cardinalities, 2);
  const Problem problem(columns, {static_cast<double>(below(3)), below(6), 1.0});
  const Watch go = [](std::size_t) { return true; };
  const std::vector<Tree> trees = grow_trees(problem, 1, go);
  check(trees, columns);
  expect(same(trees, grow_trees(problem, 3, go)), "threads do not change the trees");
}

void check_stop() {
  std::vector<std::int32_t> codes(200 * 20'000);
  for (auto& code : codes) code = static_cast<std::int32_t>(below(2));
  const Columns columns(codes.data(), 20'000, std::vector<u32>(200, 2), 2);
  const Problem problem(columns, {0.0, 1, 1.0});
  const Watch stop = [](std::size_t) { return false; };
  grow_trees(problem, 2, stop);
}

}  // namespace

int main(int count, char** arguments) {
  rng.seed(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1);
  for (int k = 0; k < 60; ++k) check_random_rows();
  check_stop();
  std::puts("growth_test: all well");
}

// The counting of learners for the sanitizers: random rows with corners, scores, tests, classes and
// cliques, from several threads at once. Seeded; an argument is another seed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "classes.hpp"
#include "cliques.hpp"
#include "contexts.hpp"
#include "tests.hpp"

using namespace contextwise::count;

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "count_test: %s\n", what);
  std::exit(1);
}

class Case {
 public:
  explicit Case(u64 seed) : rng_(seed) {
    const u32 cards[] = {1, 2, 2, 3, 9, 70};
    const std::size_t variables = 2 + below(5), rows = below(60);
    for (std::size_t v = 0; v < variables; ++v) rows_.cardinalities.push_back(cards[below(6)]);
    for (std::size_t r = 0; r < rows; ++r) rows_.counts.push_back(1 + static_cast<u32>(below(5)));
    for (const u32 card : rows_.cardinalities)
      for (std::size_t r = 0; r < rows; ++r) rows_.codes.push_back(static_cast<u32>(below(card)));
  }

  void run() {
    const std::size_t target = below(rows_.variables());
    std::vector<u32> others, blanket;
    for (u32 v = 0; v < rows_.variables(); ++v)
      if (v != target) others.push_back(v);
    for (const u32 v : others)
      if (below(2)) blanket.push_back(v);
    partitions(blanket);
    scores(target, others, blanket);
    tests(target, others, blanket);
    classes(target, blanket);
    cliques();
    graphs(rows_, 6);
  }

  // Enough pairs and rows for threads that delete edges of one word.
  void run_wide() {
    Rows wide{{}, {}, std::vector<u32>(24, 2)};
    for (std::size_t r = 0; r < 300; ++r) wide.counts.push_back(1 + static_cast<u32>(below(9)));
    std::vector<u32> hidden(300);
    for (u32& value : hidden) value = static_cast<u32>(below(2));
    for (std::size_t v = 0; v < 24; ++v)
      for (std::size_t r = 0; r < 300; ++r)
        wide.codes.push_back(below(3) ? hidden[r] : static_cast<u32>(below(2)));
    graphs(wide, 3);
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(rng_);
  }

  void partitions(const std::vector<u32>& blanket) {
    const Partition groups = Refiner(rows_).by(blanket);
    expect(groups.order.size() == rows_.size(), "every row is in one group");
    for (std::size_t g = 0; g < groups.ends.size(); ++g)
      for (const u32 row : groups.group(g))
        for (const u32 v : blanket)
          expect(rows_.column(v)[row] == rows_.column(v)[groups.group(g)[0]], "groups agree");
  }

  void scores(std::size_t target, const std::vector<u32>& others, const std::vector<u32>& blanket) {
    double cells = 1;
    for (const u32 v : blanket) cells *= rows_.cardinalities[v];
    Scorer scorer(rows_, target, SCALE);
    const std::vector<i64> found = scorer.scores(Refiner(rows_).by(blanket), others, 1.0, cells);
    for (std::size_t k = 0; k < others.size(); ++k) {
      std::vector<u32> larger = blanket;
      larger.push_back(others[k]);
      const double weight = 1.0 / (cells * rows_.cardinalities[others[k]]);
      expect(found[k] == scorer.score(Refiner(rows_).by(larger), weight), "both ways to score");
    }
  }

  void tests(std::size_t target, const std::vector<u32>& others, const std::vector<u32>& blanket) {
    Tester tester(rows_, target);
    tester.tests(Refiner(rows_).by(blanket), others);
    const std::vector<Sums> each = tester.without_each(blanket);
    for (std::size_t k = 0; k < blanket.size(); ++k) {
      std::vector<u32> rest = blanket;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      const u32 one[] = {blanket[k]};
      const Sums alone = tester.tests(Refiner(rows_).by(rest), one).front();
      for (std::size_t part = 0; part < alone.size(); ++part)
        expect(std::abs(alone[part] - each[k][part]) <= 1e-9 * (1 + std::abs(alone[part])),
               "both ways to test");
    }
    if (rows_.size() == 0) return;
    std::vector<u32> values;
    for (const u32 v : blanket) values.push_back(rows_.column(v)[0]);
    expect(tester.in_context(blanket, values).size() == blanket.size(), "a test for each");
  }

  void classes(std::size_t target, const std::vector<u32>& blanket) {
    std::size_t size = 1;
    for (const u32 v : blanket) size *= rows_.cardinalities[v];
    if (blanket.empty() || size > 4096) return;
    Classes classes(rows_, target, blanket, 1.0, SCALE);
    expect(
        classes.total() == Scorer(rows_, target, SCALE)
                               .score(Refiner(rows_).by(blanket), 1.0 / static_cast<double>(size)),
        "the score of the blanket");
    for (const u32 other : blanket) {
      Context context;
      for (const u32 v : blanket)
        if (v != other && below(2)) context[v] = static_cast<u32>(below(rows_.cardinalities[v]));
      for (const Context& merged : {context, Context{}}) {
        const i64 before = classes.total(), gain = classes.gain(other, merged);
        classes.merge(other, merged);
        expect(classes.is_merged(other, merged), "lines are merged");
        expect(classes.total() == before + gain, "the gain of a context");
        expect(classes.gain(other, merged) == 0, "nothing is left to gain");
      }
    }
  }

  void cliques() {
    const std::size_t nodes = 1 + below(70);
    const std::size_t sparse = nodes > 20 ? 8 : 2;
    std::vector<char> graph(nodes * nodes, 0);
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t b = 0; b < a; ++b)
        graph[a * nodes + b] = graph[b * nodes + a] = below(sparse) == 0;
    static_assert(sizeof(bool) == sizeof(char));
    const auto found = Cliques(reinterpret_cast<const bool*>(graph.data()), nodes).find();
    for (const std::vector<u32>& clique : found)
      for (const u32 a : clique)
        for (const u32 b : clique) expect(a == b || graph[a * nodes + b], "cliques are complete");
  }

  static void graphs(const Rows& rows, std::size_t steps) {
    std::vector<u32> varying;
    for (u32 v = 0; v < rows.variables(); ++v)
      if (rows.cardinalities[v] > 1) varying.push_back(v);
    std::vector<std::vector<char>> results;
    for (const unsigned threads : {1u, 3u}) {
      ContextGraphs search(rows, varying, 0.05, 1.0);
      for (std::size_t size = 0; size < steps; ++size)
        if (!search.delete_edges(size, threads, [](std::size_t) { return true; })) break;
      results.emplace_back(rows.size() * rows.variables() * rows.variables());
      search.graphs(reinterpret_cast<bool*>(results.back().data()));
    }
    expect(results[0] == results[1], "graphs do not depend on threads");
  }

  static constexpr double SCALE = 0x1p40;
  std::mt19937_64 rng_;
  Rows rows_;
};

}  // namespace

int main(int argc, char** argv) {
  const u64 seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  for (u64 k = 0; k < 100; ++k) Case(seed + k).run();
  for (u64 k = 0; k < 3; ++k) Case(seed + k).run_wide();
  expect(std::abs(gamma_tail(0.5, 2) - 0.04550026389635857) < 1e-14, "the tail of chi-square");
  expect(std::abs(gamma_tail(30, 20) - 0.978182) < 1e-6, "the tail by its series");

  // Threads share the rows and nothing else.
  std::vector<u32> codes, counts;
  for (u32 r = 0; r < 500; ++r) {
    for (u32 v = 0; v < 4; ++v) codes.push_back((r * 7 + v * r) % 3);
    counts.push_back(1 + r % 4);
  }
  const Rows rows{codes, counts, {3, 3, 3, 3}};
  const u32 blanket[] = {1, 2}, others[] = {1, 2, 3};
  std::vector<i64> totals(3);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < totals.size(); ++k)
    threads.emplace_back([&, k] {
      totals[k] = Scorer(rows, 0, 0x1p40).score(Refiner(rows).by(blanket), 1 / 9.0);
      Tester(rows, 0).tests(Refiner(rows).by(blanket), others);
    });
  for (std::thread& thread : threads) thread.join();
  expect(totals[0] == totals[1] && totals[1] == totals[2], "threads score alike");
  std::puts("count_test: fine");
}

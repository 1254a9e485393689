// Tests the kernel, for the sanitizers: integers against lists of bits, covers against brute force,
// comparisons and many models on several threads. The argument is a seed.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "distances.hpp"
#include "pairs.hpp"
#include "tracker.hpp"

using namespace contextwise;

namespace {

std::mt19937_64 rng;

u64 below(u64 limit) { return std::uniform_int_distribution<u64>(0, limit - 1)(rng); }

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "kernel_test: %s\n", what);
  std::exit(1);
}

// --- integers; the reference is a list of bits, lowest first ---

using BitList = std::vector<int>;

BitList bits_of(const Natural& number) {
  BitList bits;
  for (u64 word : number.words())
    for (int k = 0; k < 64; ++k) bits.push_back(static_cast<int>(word >> k & 1));
  while (!bits.empty() && !bits.back()) bits.pop_back();
  return bits;
}

BitList carried(BitList sums) {
  int carry = 0;
  for (std::size_t k = 0; k < sums.size() || carry; ++k) {
    if (k == sums.size()) sums.push_back(0);
    carry += sums[k];
    sums[k] = carry & 1;
    carry >>= 1;
  }
  while (!sums.empty() && !sums.back()) sums.pop_back();
  return sums;
}

BitList sum(const BitList& a, const BitList& b) {
  BitList sums(std::max(a.size(), b.size()), 0);
  for (std::size_t k = 0; k < a.size(); ++k) sums[k] += a[k];
  for (std::size_t k = 0; k < b.size(); ++k) sums[k] += b[k];
  return carried(sums);
}

BitList product(const BitList& a, const BitList& b) {
  BitList sums(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sums[i + j] += a[i] & b[j];
  return carried(sums);
}

// Words of all zeros or all ones are where carries fail.
Natural random_natural(std::size_t most_words) {
  std::vector<u64> words(below(most_words + 1));
  for (u64& word : words) word = below(3) ? rng() : below(2) ? ~u64{0} : 0;
  return Natural(words);
}

template <int W>
void test_wide() {
  const Natural a = random_natural(W / 2), b = random_natural(W / 2);
  Wide<W> x(a.words()), y(b.words());
  expect((x < y) == (a < b) && (x == y) == (a == b), "wide comparison");
  Wide<W> total = x;
  total += y;
  expect(bits_of(Natural(total.words())) == sum(bits_of(a), bits_of(b)), "wide sum");
  total -= y;
  expect(total == x, "wide difference");
  Wide<W> times = x;
  times *= y;
  expect(bits_of(Natural(times.words())) == product(bits_of(a), bits_of(b)), "wide product");
  const auto shift = static_cast<unsigned>(below(32 * W));
  Natural power(1);
  power <<= shift;
  x <<= shift;
  expect(bits_of(Natural(x.words())) == product(bits_of(a), bits_of(power)), "wide shift");
}

void test_integers() {
  for (int k = 0; k < 3000; ++k) {
    const Natural a = random_natural(6), b = random_natural(6);
    Natural total = a;
    total += b;
    expect(bits_of(total) == sum(bits_of(a), bits_of(b)), "sum");
    expect(!(total < a), "order of a sum");
    total -= b;
    expect(total == a, "difference");
    Natural times = a;
    times *= b;
    expect(bits_of(times) == product(bits_of(a), bits_of(b)), "product");
    const u64 factor = below(2) ? rng() : below(3);
    times = a;
    times *= factor;
    expect(bits_of(times) == product(bits_of(a), bits_of(Natural(factor))), "product with a word");
    expect(a.bits() == bits_of(a).size(), "bits");
    test_wide<2>();
    test_wide<4>();
  }
}

// --- covers ---

Cover random_cover() {
  Cover cover;
  const std::size_t variables = below(9);
  const bool binary = below(2), weighted = below(3) == 0;
  std::size_t cells = 1;
  for (std::size_t v = 0; v < variables && cells < 2000; ++v) {
    const u32 classes = binary ? 2 : 2 + static_cast<u32>(below(below(8) ? 4 : 70));
    cells *= classes;
    cover.start.push_back(cover.start.back() + classes);
    cover.names.push_back(static_cast<u32>(v));
  }
  if (weighted)
    for (std::size_t bit = 0; bit < cover.bits(); ++bit) cover.weights.push_back(Natural(below(5)));
  const std::size_t count = below(30), density = 1 + below(9);
  cover.forbidden.assign(count * cover.words(), 0);
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t v = 0; v < cover.variables(); ++v) {
      if (below(10) >= density) continue;
      const u32 first = cover.start[v], classes = cover.start[v + 1] - first;
      const u32 allowed = first + static_cast<u32>(below(classes));
      for (u32 bit = first; bit < first + classes; ++bit)
        if (bit != allowed && below(2)) cover.cube(c)[bit / 64] |= u64{1} << bit % 64;
    }
  return cover;
}

Natural brute_force(const Cover& cover) {
  Natural uncovered;
  std::vector<u32> cell(cover.variables(), 0);
  for (;;) {
    bool covered = false;
    for (std::size_t c = 0; c < cover.size() && !covered; ++c) {
      covered = true;
      for (std::size_t v = 0; v < cell.size(); ++v)
        covered &= !cover.forbids(c, cover.start[v] + cell[v]);
    }
    if (!covered) {
      Natural weight(1);
      for (std::size_t v = 0; v < cell.size(); ++v)
        weight *= cover.weight(cover.start[v] + cell[v]);
      uncovered += weight;
    }
    std::size_t v = 0;
    while (v < cell.size() && ++cell[v] == cover.start[v + 1] - cover.start[v]) cell[v++] = 0;
    if (v == cell.size()) return uncovered;
  }
}

Interval<Natural> counted(const Cover& cover, u64 nodes, std::size_t memory) {
  Budget budget;
  budget.nodes = nodes;
  return uncovered_by_any(cover, budget, memory);
}

// Also counts without truth tables and with the widest types, which small covers do not use.
template <class N, int W>
Interval<Natural> counted_as(const Cover& cover, u64 nodes) {
  Budget budget;
  budget.nodes = nodes;
  return uncovered_by_recursion<N, W>(cover, budget, 1 << 12);
}

// Counts with branching breadth first.
Interval<Natural> counted_in_order(const Cover& cover) {
  Budget budget;
  const Cover ordered = breadth_first(cover);
  return Recursion<Natural, 0>(ordered, budget, 1 << 12, true).run(0);
}

bool contains(const Interval<Natural>& interval, const Natural& number) {
  return !(number < interval.low) && !(interval.high() < number);
}

void test_covers() {
  for (int k = 0; k < 1500; ++k) {
    const Cover cover = random_cover();
    const Natural truth = brute_force(cover);
    const Interval<Natural> exact = counted(cover, Budget::UNLIMITED, below(2) ? 1 << 20 : 600);
    expect(exact.closed() && exact.low == truth, "a cover counted");
    const Interval<Natural> some = counted(cover, below(6), 1 << 12);
    expect(contains(some, truth), "bounds that miss the truth");
    Cover heavy = cover;  // weights exclude truth tables
    heavy.weights.clear();
    for (std::size_t bit = 0; bit < cover.bits(); ++bit) heavy.weights.push_back(Natural(2));
    const Natural heavy_truth = brute_force(heavy);
    const Interval<Natural> wide = counted_as<Natural, 0>(heavy, Budget::UNLIMITED);
    expect(wide.closed() && wide.low == heavy_truth, "a cover counted with any width");
    expect(counted_in_order(heavy).low == heavy_truth, "a cover counted breadth first");
    if (heavy.words() <= 8) {
      const Interval<Natural> few = counted_as<Wide<4>, 8>(heavy, below(10));
      expect(contains(few, heavy_truth), "wide bounds miss the truth");
    }
  }
}

// --- comparisons ---

struct Model {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> variables;
  std::vector<u64> values;
  FeatureArrays arrays() const {
    return {starts.data(), variables.data(), values.data(), starts.size() - 1, 1};
  }
};

Model random_model(const std::vector<std::int64_t>& cardinalities) {
  Model model;
  for (std::size_t f = below(20); f > 0; --f) {
    for (std::size_t v = 0; v < cardinalities.size(); ++v) {
      const u64 all = (u64{1} << cardinalities[v]) - 1;
      const u64 values = rng() & all;
      if (below(2) || !values || values == all) continue;
      model.variables.push_back(static_cast<std::int32_t>(v));
      model.values.push_back(values);
    }
    model.starts.push_back(static_cast<std::int64_t>(model.variables.size()));
  }
  return model;
}

// Tests whether some feature with both variables of the pair holds in a context.
bool depends(const Model& model, const Pair& pair, const std::vector<u64>& context,
             bool canonical) {
  for (std::size_t f = 0; f + 1 < model.starts.size(); ++f) {
    int of_pair = 0;
    bool holds = true;
    for (auto l = model.starts[f]; l < model.starts[f + 1]; ++l) {
      const auto v = static_cast<u32>(model.variables[static_cast<std::size_t>(l)]);
      const bool in_pair = v == pair.first || v == pair.second;
      of_pair += in_pair;
      if (!in_pair || canonical)
        holds &= model.values[static_cast<std::size_t>(l)] >> context[v] & 1;
    }
    if (of_pair == 2 && holds) return true;
  }
  return false;
}

// Counts the contexts in which the pair depends: in a (0), in b (1), in either (2).
u64 union_size(const std::vector<std::int64_t>& cardinalities, const Model& a, const Model& b,
               const Pair& pair, std::size_t which, bool canonical) {
  u64 contexts = 1, size = 0;
  std::vector<u64> context(cardinalities.size());
  const auto values = [&](u32 v) {
    const bool in_pair = v == pair.first || v == pair.second;
    return in_pair && !canonical ? u64{1} : static_cast<u64>(cardinalities[v]);
  };
  for (u32 v = 0; v < cardinalities.size(); ++v) contexts *= values(v);
  for (u64 number = 0; number < contexts; ++number) {
    u64 rest = number;
    for (u32 v = 0; v < cardinalities.size(); ++v) {
      context[v] = rest % values(v);
      rest /= values(v);
    }
    size += (which != 1 && depends(a, pair, context, canonical)) ||
            (which != 0 && depends(b, pair, context, canonical));
  }
  return size;
}

using Found = std::vector<PairSizes>;

Found compared(const std::vector<std::int64_t>& cardinalities, const Model& a, const Model& b,
               const std::vector<Pair>& pairs, const PairOptions& options) {
  PairCounter counter({cardinalities, {}, a.arrays(), b.arrays()}, pairs, options);
  counter.run([](std::size_t) { return true; });
  return counter.sizes();
}

void test_comparisons() {
  for (int k = 0; k < 300; ++k) {
    std::vector<std::int64_t> cardinalities(2 + below(5));
    for (auto& c : cardinalities) c = 1 + static_cast<std::int64_t>(below(4));
    const Model a = random_model(cardinalities), b = random_model(cardinalities);
    std::vector<Pair> pairs;
    for (u32 i = 0; i < cardinalities.size(); ++i)
      for (u32 j = i + 1; j < cardinalities.size(); ++j) pairs.push_back({i, j});
    PairOptions options;
    options.canonical = below(2);
    const Found one = compared(cardinalities, a, b, pairs, options);
    options.threads = 3;
    const Found three = compared(cardinalities, a, b, pairs, options);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const Found alone = compared(cardinalities, a, b, {pairs[p]}, options);
      expect(one[p].closed() && three[p].closed() && alone[0].closed(), "a pair that is left open");
      for (std::size_t u = 0; u < 3; ++u) {
        const Natural& size = one[p].sizes[u].low;
        expect(size == three[p].sizes[u].low, "threads that disagree");
        expect(size == alone[0].sizes[u].low, "a pair that counts otherwise when it is alone");
        expect(size == Natural(union_size(cardinalities, a, b, pairs[p], u, options.canonical)),
               "a comparison that visiting every context contradicts");
      }
    }
  }
}

// --- many models ---

std::vector<Pair> all_pairs(std::size_t variables) {
  std::vector<Pair> pairs;
  for (u32 i = 0; i < variables; ++i)
    for (u32 j = i + 1; j < variables; ++j) pairs.push_back({i, j});
  return pairs;
}

// Counts the assertions in which two models differ.
u64 distance(const std::vector<std::int64_t>& cardinalities, const Model& a, const Model& b,
             bool canonical) {
  u64 apart = 0;
  for (const Pair& pair : all_pairs(cardinalities.size())) {
    std::array<u64, 3> sizes;
    for (std::size_t u = 0; u < 3; ++u)
      sizes[u] = union_size(cardinalities, a, b, pair, u, canonical);
    apart += 2 * sizes[2] - sizes[0] - sizes[1];
  }
  return apart;
}

// Checks distances between all models and between two groups, on three threads.
void test_distances() {
  for (int k = 0; k < 60; ++k) {
    std::vector<std::int64_t> cardinalities(2 + below(4));
    for (auto& c : cardinalities) c = 1 + static_cast<std::int64_t>(below(4));
    std::vector<Model> models;
    for (int m = 0; m < 4; ++m) models.push_back(random_model(cardinalities));
    models.push_back(models[0]);
    ManyModels many{cardinalities, {}, {}};
    for (const Model& model : models) many.arrays.push_back(model.arrays());
    DistanceOptions options;
    options.canonical = below(2);
    options.threads = 3;
    for (const std::size_t rows : {0, 2}) {
      DistanceCounter counter(many, rows, all_pairs(cardinalities.size()), {}, options);
      counter.run([](std::size_t) { return true; });
      const Cells cells(models.size(), rows);
      for (std::size_t a = 0; a < (rows ? rows : models.size()); ++a)
        for (std::size_t b = rows ? rows : a + 1; b < models.size(); ++b)
          expect(counter.sums().words()[cells.of(a, b) * counter.width()] ==
                     distance(cardinalities, models[a], models[b], options.canonical),
                 "a distance that visiting every context contradicts");
      expect(counter.finished(), "a pair that is not counted without a deadline");
    }
  }
}

// Checks the changes that features make to the unions against visiting every context.
void test_tracker() {
  for (int k = 0; k < 100; ++k) {
    std::vector<std::int64_t> cardinalities(2 + below(4));
    for (auto& c : cardinalities) c = 1 + static_cast<std::int64_t>(below(4));
    const Model a = random_model(cardinalities), b = random_model(cardinalities);
    const bool canonical = below(2);
    const Model none{{0}, {}, {}};
    Tracker tracker(cardinalities, {}, a.arrays(), none.arrays(), canonical, 1 << 20);
    std::vector<u32> known;
    for (std::size_t f = 0; f + 1 < b.starts.size(); ++f) {
      const auto first = static_cast<std::ptrdiff_t>(b.starts[f]),
                 last = static_cast<std::ptrdiff_t>(b.starts[f + 1]);
      const Model one{{0, last - first},
                      {b.variables.begin() + first, b.variables.begin() + last},
                      {b.values.begin() + first, b.values.begin() + last}};
      known.push_back(tracker.know(one.arrays()));
    }
    const std::vector<Pair> pairs = all_pairs(cardinalities.size());
    std::vector<Growth> more, less;
    tracker.count(pairs, known, {}, Budget{}, more);
    for (u32 feature : known) tracker.insert(feature);
    tracker.count(pairs, {}, known, Budget{}, less);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const u64 alone = union_size(cardinalities, a, b, pairs[p], 1, canonical);
      const u64 both = union_size(cardinalities, a, b, pairs[p], 2, canonical) -
                       union_size(cardinalities, a, b, pairs[p], 0, canonical);
      expect(more[p].closed && less[p].closed, "a change that is left open");
      expect(more[p].more == less[p].less, "features that go otherwise than they came");
      expect(more[p].more[0] == Natural(alone) && more[p].more[1] == Natural(both),
             "a change that visiting every context contradicts");
    }
  }
}

// --- space and time ---

// Checks the hash table against that of the standard library.
void test_table() {
  HashTable table;
  std::unordered_map<u64, u32> reference;
  std::vector<u64> keys;
  for (u32 number = 0; number < 2000; ++number) {
    const u64 key = below(3) ? rng() : below(50);  // some repeat
    const auto same = [&](u32 other) { return keys[other] == key; };
    const auto [at, fresh] = reference.try_emplace(key, number);
    expect(table.find_or_insert(mix(0, key % 97), number, same) ==
               (fresh ? HashTable::NONE : at->second),
           "the table");
    keys.push_back(key);
    expect(table.find(mix(0, key % 97), same) == at->second, "what the table has");
  }
}

// Checks that a cache stays within its size and never returns a wrong value.
template <class N>
void test_memory() {
  for (std::size_t limit : {std::size_t{0}, std::size_t{3000}, std::size_t{200'000}}) {
    Memory<N> memory(limit);
    int hits = 0;
    for (int k = 0; k < 20'000; ++k) {
      std::vector<u64> key(1 + below(6), below(60));
      key.back() = below(60);
      N value(1);
      for (u64 word : key) value += N(word * 1000);
      const u64 hash = hash_of(std::span<const u64>(key));
      if (const std::optional<N> known = memory.find(key, hash)) {
        ++hits;
        expect(*known == value, "a memory that is wrong");
      } else {
        memory.store(key, hash, value);
      }
      expect(memory.bytes() <= limit, "a memory beyond its bytes");
    }
    expect((hits > 0) == (limit > 0), "a memory that remembers nothing");
  }
}

// Makes a chain of long cubes. Every cube is set aside in turn, so the recursion is as deep as
// there are cubes, more than fits on one stack. A level takes 4 bytes per cube for the list and 2
// for the key, and vectors may have twice that capacity.
void test_depth() {
  const u32 cubes = 3000, length = 8, variables = 200;
  Cover cover;
  for (u32 v = 0; v < variables; ++v) {
    cover.start.push_back(2 * v + 2);
    cover.names.push_back(v);
  }
  cover.forbidden.assign(cubes * cover.words(), 0);
  for (u32 c = 0; c < cubes; ++c)
    for (u32 k = 0; k < length; ++k) {
      const std::size_t bit = 2 * ((c * 7 + k * 23) % variables) + below(2);
      cover.cube(c)[bit / 64] |= u64{1} << bit % 64;
    }
  Budget budget;
  budget.nodes = cubes;
  const std::size_t memory = 1 << 20;
  Recursion<Wide<4>, 8> recursion(cover, budget, memory);
  recursion.run(0);
  expect(budget.used == cubes, "a recursion that ends before it is deep");
  const std::size_t depth = variables + cubes, level = 2 * (6 * cubes + 2 * sizeof(Bits<8>) + 50);
  expect(recursion.bytes() <= memory + depth * level, "a recursion that takes too much space");
}

// Checks that no node is entered after the deadline and that the bounds hold.
void test_deadline() {
  for (int k = 0; k < 200; ++k) {
    const Cover cover = random_cover();
    Budget budget;
    budget.deadline = Clock::now();
    const Interval<Natural> bounds = uncovered_by_any(cover, budget, 1 << 12);
    expect(budget.used <= Budget::BETWEEN_LOOKS, "nodes after the time was over");
    expect(contains(bounds, brute_force(cover)), "bounds without time");
  }
}

// Checks that simplifying can be stopped and keeps the union: all assignments of seven variables
// with three classes become one cube if there is time, and keep their size otherwise.
void test_stopped_simplifying() {
  Cover cover;
  u32 count = 1;
  for (u32 v = 0; v < 7; ++v, count *= 3) {
    cover.start.push_back(3 * v + 3);
    cover.names.push_back(v);
  }
  for (u32 c = 0; c < count; ++c) {
    u64 forbids = 0;
    for (u32 v = 0, rest = c; v < 7; ++v, rest /= 3) forbids |= (7 ^ u64{1} << rest % 3) << 3 * v;
    cover.forbidden.push_back(forbids);
  }
  std::atomic<bool> stop{false};
  Budget budget;
  budget.stop = &stop;
  Cover whole = cover, part = cover;
  Simplifier().run(whole, budget);
  stop = true;
  Simplifier().run(part, budget);
  expect(whole.size() == 1, "assignments that do not become one cube");
  expect(part.size() > 1, "simplifying that does not stop");
  for (u32 c = 0; c < count; ++c) {
    bool inside = false;
    for (const u64& forbids : part.forbidden) inside |= !(forbids & ~cover.forbidden[c]);
    expect(inside, "simplifying that loses a context when it is stopped");
  }
}

// Checks that exceptions of a worker and of the watching thread reach the caller and end all
// threads.
void test_threads() {
  for (const bool inside : {false, true}) {
    std::atomic<bool> stop{false};
    std::atomic<int> running{0};
    const WatchedThreads::Work work = [&] {
      ++running;
      if (inside) throw std::runtime_error("inside");
      while (!stop) std::this_thread::yield();
    };
    const WatchedThreads::Watch watch = [&]() -> bool { throw std::runtime_error("outside"); };
    bool thrown = false;
    try {
      WatchedThreads(stop, work, watch).run(3);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    expect(thrown && stop && running == 3, "threads that lose an exception");
  }
}

}  // namespace

int main(int argc, char** argv) {
  rng.seed(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  test_integers();
  test_covers();
  test_comparisons();
  test_distances();
  test_tracker();
  test_table();
  test_memory<Wide<1>>();
  test_memory<Natural>();
  test_depth();
  test_deadline();
  test_stopped_simplifying();
  test_threads();
  std::puts("kernel_test: all well");
}

// Tests of the logits of blocks: fits, scores and predicted losses of random rows, against each
// other. Run by sanitize.sh.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "logit.hpp"

using namespace contextwise::blocks;

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

Table random_table(std::mt19937& random, const std::vector<u32>& cardinalities, std::size_t rows) {
  Table table;
  table.cardinalities = cardinalities;
  table.columns.resize(cardinalities.size());
  for (std::size_t row = 0; row < rows; ++row) {
    u32 before = 0;
    for (std::size_t v = 0; v < cardinalities.size(); ++v) {
      const u32 own = static_cast<u32>(random() % cardinalities[v]);
      before = random() % 2 ? before % cardinalities[v] : own;
      table.columns[v].push_back(before);
    }
    table.counts.push_back(1.0 + static_cast<double>(random() % 3));
  }
  return table;
}

}  // namespace

int main() {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<u32> cardinalities;
    for (int v = 0; v < 5; ++v) cardinalities.push_back(2 + static_cast<u32>(random() % 5));
    Rows rows(random_table(random, cardinalities, 1 + random() % 400));
    const Block first{{0, 1}, {{2, 1}}}, second{{0, 2}, {}}, literal{{1, 3}, {{0, 1}}};
    const std::vector<Block> all{first, second, literal}, rest{first, literal};
    Logit with(rows.table(), 0, all), without(rows.table(), 0, rest);
    for (Logit* logit : {&with, &without}) {
      logit->start({});
      logit->fit();
    }
    const double gain = with.log_likelihood() - without.log_likelihood();
    check(gain > -0.5, "a block never loses more than its ridge");
    const double rao = rows.prepared(0, rest, without.weights()).rao({{second}})[0];
    check(std::isfinite(rao) && rao >= 0.0, "Rao's gain is a number from 0 up");
    Logit& extended = rows.prepared(0, rest, without.weights());
    const std::vector<std::vector<Block>> options{
        {{{0, 4}, {{3, 1}}}}, {{{0, 4}, {{3, 2}}}}, {{{0, 4}, {{3, 1}}}, {{0, 4}, {{3, 2}}}}};
    const std::vector<double> gains = extended.rao(options);  // sums of the third are those of both
    for (std::size_t k = 0; k < options.size(); ++k)
      check(std::abs(gains[k] -
                     Rows(rows.table()).prepared(0, rest, without.weights()).rao({options[k]})[0]) <
                1e-8,
            "options together and alone gain the same");
    Logit& prepared = rows.prepared(0, all, with.weights());
    const std::vector<double> changes =
        prepared.only(1, {{2, 0}, {2, 1}, {1, 1}, {3, (u64{1} << cardinalities[3]) - 1}});
    for (const double change : changes) check(std::isfinite(change), "changes are numbers");
    check(changes[0] <= 0.5, "no block at all gains nothing");
    check(std::abs(changes[3]) < 0.5, "a literal of all states changes nothing");
  }
  // More variables than a 64-bit number can tell apart.
  const Table wide = random_table(random, std::vector<u32>(70, 3), 50);
  std::set<u32> variables;
  for (u32 v = 0; v < 70; ++v) variables.insert(v);
  const auto groups = wide.groups_by(variables);
  for (std::size_t a = 0; a < wide.rows(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      bool same = true;
      for (const std::vector<u32>& column : wide.columns) same &= column[a] == column[b];
      check(same == (groups->group_of[a] == groups->group_of[b]), "groups agree on all variables");
    }
  std::printf("blocks: all tests passed\n");
  return 0;
}

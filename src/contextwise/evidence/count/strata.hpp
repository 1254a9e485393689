// Tables of two variables in groups of rows, and sums of X² over 2 x 2 tables: see p_values.py.
#pragma once

#include <algorithm>
#include <cmath>

#include "rows.hpp"

namespace contextwise::count {

// Whether permutations can change X² of a table: more than three rows, and both variables vary.
inline bool informs(std::span<const double> table, u32 high, u32 wide) {
  double total = 0;
  u32 rows = 0, columns = 0;
  for (u32 a = 0; a < high; ++a) {
    double sum = 0;
    for (u32 b = 0; b < wide; ++b) sum += table[a * wide + b];
    total += sum;
    rows += sum > 0;
  }
  if (total <= 3 || rows < 2) return false;
  for (u32 b = 0; b < wide; ++b) {
    double sum = 0;
    for (u32 a = 0; a < high; ++a) sum += table[a * wide + b];
    columns += sum > 0;
  }
  return columns > 1;
}

// The tables of two variables in the groups of chosen rows with equal values of `given`, those that
// inform; then the number of all groups that have rows.
inline std::vector<double> tables_within(const Rows& rows, std::span<const i64> chosen,
                                         const std::vector<u32>& given, u32 first, u32 second) {
  std::vector<u64> codes(chosen.size(), 0);
  u64 groups = 1;
  const auto append = [&](u32 variable) {
    const u32* const column = rows.column(variable);
    const u64 size = rows.cardinalities[variable];
    for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = codes[k] * size + column[chosen[k]];
    groups *= size;
  };
  const auto renumber = [&] {
    std::vector<u64> seen = codes;
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (u64& code : codes)
      code = static_cast<u64>(std::ranges::lower_bound(seen, code) - seen.begin());
    groups = seen.size();
  };
  for (const u32 variable : given) {
    if (groups > (u64{1} << 62) / rows.cardinalities[variable]) renumber();
    append(variable);
  }
  if (groups > 4 * codes.size() + 64) renumber();
  const u64 strata = groups;
  append(first);
  append(second);
  const u32 high = rows.cardinalities[first], wide = rows.cardinalities[second];
  const std::size_t width = std::size_t{high} * wide;
  std::vector<double> cells(strata * width, 0.0);
  for (std::size_t k = 0; k < codes.size(); ++k) cells[codes[k]] += rows.counts[chosen[k]];
  std::size_t kept = 0;
  double occupied = 0;
  for (u64 group = 0; group < strata; ++group) {
    const std::span<const double> table(cells.data() + group * width, width);
    occupied += std::ranges::any_of(table, [](double cell) { return cell > 0; });
    if (!informs(table, high, wide)) continue;
    std::ranges::copy(table, cells.begin() + static_cast<std::ptrdiff_t>(kept));
    kept += width;
  }
  cells.resize(kept);
  cells.push_back(occupied);
  return cells;
}

// The distribution of the sum of X² over tables with these margins (sum, second row, second
// column), if the log odds ratio is `tilt`: `grid` steps below `top`, then the probability beyond.
inline std::vector<double> sum_of_tables(std::span<const double> margins, double top,
                                         std::size_t grid, double tilt) {
  std::vector<double> below(grid, 0.0), whole(2 * grid + 1), chances, step(grid + 2);
  below[0] = 1;
  double beyond = 0;
  std::size_t used = 1;  // the places from here on are 0
  for (std::size_t k = 0; k < margins.size(); k += 3) {
    const double n = margins[k], row = margins[k + 1], column = margins[k + 2];
    const double least = std::max(0.0, row + column - n), most = std::min(row, column);
    chances.clear();
    double log_chance = 0, largest = 0;
    // The ratio of the probabilities of neighbouring cells.
    for (double cell = least; cell <= most; ++cell) {
      chances.push_back(log_chance);
      largest = std::max(largest, log_chance);
      if (cell < most)
        log_chance += tilt + std::log((row - cell) * (column - cell) /
                                      ((cell + 1) * (n - row - column + cell + 1)));
    }
    double total = 0;
    for (double& chance : chances) total += chance = std::exp(chance - largest);
    std::ranges::fill(step, 0.0);
    const double scale = n / (row * (n - row) * column * (n - column)) *
                         (static_cast<double>(grid) / top * (1 + 1e-9));
    for (std::size_t c = 0; c < chances.size(); ++c) {
      const double far = (least + static_cast<double>(c)) * n - row * column;
      const double exact = std::min(far * far * scale, static_cast<double>(grid));
      const auto place = static_cast<std::size_t>(exact);
      const double upper = exact - static_cast<double>(place), chance = chances[c] / total;
      step[place] += chance * (1 - upper);
      step[place + 1] += chance * upper;
    }
    std::ranges::fill(whole, 0.0);
    double inside = 0;
    for (std::size_t g = 0; g < used; ++g) inside += below[g];
    beyond += (step[grid] + step[grid + 1]) * inside;
    std::size_t reached = 1;
    for (std::size_t place = 0; place < grid; ++place)
      if (const double chance = step[place]; chance > 0) {
        for (std::size_t g = 0; g < used; ++g) whole[place + g] += chance * below[g];
        reached = place + used;
      }
    for (std::size_t g = grid; g < reached; ++g) beyond += whole[g];
    used = std::min(reached, grid);
    std::copy_n(whole.begin(), grid, below.begin());
  }
  below.push_back(beyond);
  return below;
}

}  // namespace contextwise::count

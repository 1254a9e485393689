// Tables of two variables in groups of rows: see blanket_tests.py.
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

}  // namespace contextwise::count

// X² of tables of two variables within groups of rows: what independence_test.py explains.
#pragma once

#include <algorithm>
#include <array>

#include "rows.hpp"

namespace contextwise::count {

// X², the mean, the variance and the largest value of it, rows and cells: summed over groups.
using Sums = std::array<double, 6>;

// What the moments of X² need of one margin of a table.
struct Margin {
  double n = 0, filled = 0, inverses = 0, largest_inverse = 0;
  explicit Margin(std::span<const double> sums) {
    for (const double sum : sums)
      if (sum > 0) {
        n += sum;
        ++filled;
        inverses += 1 / sum;
        largest_inverse = std::max(largest_inverse, 1 / sum);
      }
  }
  double v() const { return (filled - 1) * (n - filled) / (n - 1); }
  double w() const { return (n * inverses - filled * filled) / (n - 2); }
};

// The most that Σ n_ij² / (r_i c_j) can be, from one margin and the largest 1/c of the other.
inline double bound(std::span<const double> sums, double inverse) {
  double total = 0;
  for (const double sum : sums) total += std::min(1.0, sum * inverse);
  return total;
}

// Adds the test of a table with these margins and Σ n_ij² / (r_i c_j).
inline void add_table(Sums& sums, std::span<const double> rows, std::span<const double> columns,
                      double squares) {
  const Margin r(rows), c(columns);
  const double n = r.n;
  if (n <= 3 || r.filled < 2 || c.filled < 2) return;
  const double largest =
      std::min(bound(rows, c.largest_inverse), bound(columns, r.largest_inverse));
  sums[0] += n * (squares - 1);
  sums[1] += n / (n - 1) * (r.filled - 1) * (c.filled - 1);
  sums[2] += 2 * n / (n - 3) * (r.v() - r.w()) * (c.v() - c.w()) + n * n / (n - 1) * r.w() * c.w();
  sums[3] += n * (largest - 1);
  sums[4] += n;
  sums[5] += r.filled * c.filled;
}

// Adds up the tests of one target; holds the scratch space of one thread.
class Tester {
 public:
  Tester(const Rows& rows, std::size_t target)
      : rows_(rows),
        refiner_(rows),
        target_(target),
        codes_(rows.column(target)),
        places_(rows.most_values(), NONE),
        other_places_(rows.most_values(), NONE) {}

  // Tests the target and each of the others within the groups of a partition.
  std::vector<Sums> tests(Partition partition, std::span<const u32> others) {
    prune(partition);
    gather(partition);
    std::vector<Sums> result;
    for (const u32 v : others) result.push_back(test(partition, v));
    return result;
  }

  // Tests the target and each variable of a blanket, given all the others of it.
  std::vector<Sums> without_each(std::span<const u32> blanket) {
    std::vector<Sums> result(blanket.size());
    Partition whole = Partition::whole(rows_);
    prune(whole);
    if (!blanket.empty()) divide(whole, blanket, 0, blanket.size(), result);
    return result;
  }

  // Tests the target and each variable of a context on the rows that agree with the rest of it.
  std::vector<Sums> in_context(std::span<const u32> variables, std::span<const u32> values) {
    // Rows that agree so far, and those that differ in one variable only, with its place.
    std::vector<u32> same(rows_.size()), differ, places;
    std::iota(same.begin(), same.end(), u32{0});
    differ.reserve(rows_.size());
    places.reserve(rows_.size());
    for (u32 k = 0; k < variables.size(); ++k) {
      const u32* const column = rows_.column(variables[k]);
      const u32 value = values[k];
      std::size_t kept = 0;
      for (std::size_t r = 0; r < differ.size(); ++r) {
        differ[kept] = differ[r];
        places[kept] = places[r];
        kept += column[differ[r]] == value;
      }
      const std::size_t before = same.size();
      differ.resize(kept + before);
      places.resize(kept + before, k);
      std::size_t agree = 0;
      for (std::size_t r = 0; r < before; ++r) {
        const u32 row = same[r];
        const bool agrees = column[row] == value;
        differ[kept] = row;
        places[kept] = k;
        same[agree] = row;
        kept += !agrees;
        agree += agrees;
      }
      differ.resize(kept);
      places.resize(kept);
      same.resize(agree);
    }
    std::vector<Partition> agreeing(variables.size());
    for (Partition& each : agreeing) each.order = same;
    for (std::size_t r = 0; r < differ.size(); ++r) agreeing[places[r]].order.push_back(differ[r]);
    std::vector<Sums> result;
    for (std::size_t k = 0; k < variables.size(); ++k) {
      if (!agreeing[k].order.empty())
        agreeing[k].ends.push_back(static_cast<u32>(agreeing[k].order.size()));
      result.push_back(tests(std::move(agreeing[k]), variables.subspan(k, 1)).front());
    }
    return result;
  }

 private:
  static constexpr u32 NONE = ~u32{0};
  static constexpr std::size_t SMALL = 64;

  // Drops groups whose test is 0 whatever the other variable is: few rows, or a constant target.
  void prune(Partition& partition) const {
    partition.keep([&](std::span<const u32> group) {
      u64 n = 0;
      bool varies = false;
      for (const u32 row : group) {
        n += rows_.counts[row];
        varies |= codes_[row] != codes_[group[0]];
      }
      return varies && n > 3;
    });
  }

  void gather(const Partition& partition) {
    values_.resize(partition.order.size());
    counts_.resize(partition.order.size());
    for (std::size_t k = 0; k < partition.order.size(); ++k) {
      values_[k] = codes_[partition.order[k]];
      counts_[k] = rows_.counts[partition.order[k]];
    }
  }

  // Refines by one half of the blanket before testing the other half, so that a variable is used
  // as often as the halves are halved, and not once for each other variable.
  void divide(const Partition& partition, std::span<const u32> blanket, std::size_t first,
              std::size_t last, std::vector<Sums>& result) {
    if (last - first == 1) {
      gather(partition);
      result[first] = test(partition, blanket[first]);
      return;
    }
    const std::size_t middle = (first + last) / 2;
    const std::array<std::size_t, 3> ends{first, middle, last};
    for (int half = 0; half < 2; ++half) {
      Partition finer = partition;
      for (std::size_t k = ends[1 - half]; k < ends[2 - half]; ++k) {
        refiner_.refine(finer, blanket[k]);
        prune(finer);
      }
      divide(finer, blanket, ends[half], ends[half + 1], result);
    }
  }

  Sums test(const Partition& partition, std::size_t v) {
    Sums sums{};
    std::size_t begin = 0;
    for (const u32 end : partition.ends) {
      add_group(sums, partition, begin, end, v);
      begin = end;
    }
    return sums;
  }

  // Adds the test of one group; the partition was gathered.
  void add_group(Sums& sums, const Partition& partition, std::size_t begin, std::size_t end,
                 std::size_t v) {
    const u32* const column = rows_.column(v);
    const u32 width = rows_.cardinalities[v], values = rows_.cardinalities[target_];
    if (u64{width} * values > SMALL) {
      add_large(sums, partition, begin, end, column);
      return;
    }
    std::array<u32, SMALL> cells;
    std::fill_n(cells.begin(), width * values, 0);
    for (std::size_t k = begin; k < end; ++k)
      cells[values_[k] * width + column[partition.order[k]]] += counts_[k];
    add_small(sums, cells.data(), values, width);
  }

  void add_small(Sums& sums, const u32* cells, u32 values, u32 width) {
    rows_of_table_.assign(values, 0);
    columns_of_table_.assign(width, 0);
    for (u32 a = 0; a < values; ++a)
      for (u32 b = 0; b < width; ++b) {
        rows_of_table_[a] += cells[a * width + b];
        columns_of_table_[b] += cells[a * width + b];
      }
    double squares = 0;
    for (u32 a = 0; a < values; ++a)
      for (u32 b = 0; b < width; ++b)
        if (const double n = cells[a * width + b]; n > 0)
          squares += n * n / (rows_of_table_[a] * columns_of_table_[b]);
    add_table(sums, rows_of_table_, columns_of_table_, squares);
  }

  // Many values: numbers those that occur, and sorts the cells instead of making a table.
  void add_large(Sums& sums, const Partition& partition, std::size_t begin, std::size_t end,
                 const u32* column) {
    rows_of_table_.clear();
    columns_of_table_.clear();
    entries_.clear();
    seen_.clear();
    other_seen_.clear();
    for (std::size_t k = begin; k < end; ++k) {
      const u32 a = place(places_, seen_, rows_of_table_, values_[k]);
      const u32 b =
          place(other_places_, other_seen_, columns_of_table_, column[partition.order[k]]);
      rows_of_table_[a] += counts_[k];
      columns_of_table_[b] += counts_[k];
      entries_.push_back({u64{a} << 32 | b, counts_[k]});
    }
    for (const u32 value : seen_) places_[value] = NONE;
    for (const u32 value : other_seen_) other_places_[value] = NONE;
    std::ranges::sort(entries_, {}, &Entry::cell);
    double squares = 0;
    for (std::size_t k = 0; k < entries_.size();) {
      const u64 cell = entries_[k].cell;
      double n = 0;
      for (; k < entries_.size() && entries_[k].cell == cell; ++k) n += entries_[k].count;
      squares += n * n / (rows_of_table_[cell >> 32] * columns_of_table_[cell & NONE]);
    }
    add_table(sums, rows_of_table_, columns_of_table_, squares);
  }

  static u32 place(std::vector<u32>& places, std::vector<u32>& seen, std::vector<double>& margin,
                   u32 value) {
    if (places[value] == NONE) {
      places[value] = static_cast<u32>(margin.size());
      seen.push_back(value);
      margin.push_back(0);
    }
    return places[value];
  }

  struct Entry {
    u64 cell;
    u32 count;
  };
  const Rows& rows_;
  Refiner refiner_;
  std::size_t target_;
  const u32* codes_;
  std::vector<u32> places_, other_places_, seen_, other_seen_, values_, counts_;
  std::vector<double> rows_of_table_, columns_of_table_;
  std::vector<Entry> entries_;
};

}  // namespace contextwise::count

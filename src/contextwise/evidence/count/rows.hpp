// Distinct rows with their counts, and partitions of them that are refined one variable at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace contextwise::count {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

struct Rows {
  std::vector<u32> codes;  // column after column
  std::vector<u32> counts;
  std::vector<u32> cardinalities;

  std::size_t size() const { return counts.size(); }
  std::size_t variables() const { return cardinalities.size(); }
  const u32* column(std::size_t v) const { return codes.data() + v * size(); }
  u32 most_values() const { return cardinalities.empty() ? 1 : std::ranges::max(cardinalities); }
};

// `order` lists rows group after group; group g ends at ends[g].
struct Partition {
  std::vector<u32> order;
  std::vector<u32> ends;

  // One group of all rows.
  static Partition whole(const Rows& rows) {
    Partition result;
    result.order.resize(rows.size());
    std::iota(result.order.begin(), result.order.end(), u32{0});
    if (rows.size()) result.ends.push_back(static_cast<u32>(rows.size()));
    return result;
  }

  std::span<const u32> group(std::size_t g) const {
    const std::size_t begin = g ? ends[g - 1] : 0;
    return {order.data() + begin, order.data() + ends[g]};
  }

  // Keeps the groups that `wanted` accepts.
  template <class Wanted>
  void keep(const Wanted& wanted) {
    std::size_t groups = 0, begin = 0, kept = 0;
    for (std::size_t g = 0; g < ends.size(); ++g) {
      const std::size_t end = ends[g];
      if (wanted(std::span<const u32>(order.data() + begin, order.data() + end))) {
        std::copy(order.begin() + static_cast<std::ptrdiff_t>(begin),
                  order.begin() + static_cast<std::ptrdiff_t>(end),
                  order.begin() + static_cast<std::ptrdiff_t>(kept));
        kept += end - begin;
        ends[groups++] = static_cast<u32>(kept);
      }
      begin = end;
    }
    order.resize(kept);
    ends.resize(groups);
  }
};

// Refines partitions; holds the scratch space of one thread.
class Refiner {
 public:
  explicit Refiner(const Rows& rows) : rows_(rows), slots_(rows.most_values(), 0) {}

  // Splits each group by the values of a variable.
  void refine(Partition& partition, std::size_t variable) {
    const u32* const column = rows_.column(variable);
    moved_.resize(partition.order.size());
    ends_.clear();
    std::size_t begin = 0;
    for (const u32 end : partition.ends) {
      seen_.clear();
      for (std::size_t k = begin; k < end; ++k) {
        const u32 value = column[partition.order[k]];
        if (slots_[value]++ == 0) seen_.push_back(value);
      }
      u32 at = static_cast<u32>(begin);
      for (const u32 value : seen_) {
        const u32 size = slots_[value];
        slots_[value] = at;
        at += size;
        ends_.push_back(at);
      }
      for (std::size_t k = begin; k < end; ++k) {
        const u32 row = partition.order[k];
        moved_[slots_[column[row]]++] = row;
      }
      for (const u32 value : seen_) slots_[value] = 0;
      begin = end;
    }
    partition.order.swap(moved_);
    partition.ends.swap(ends_);
  }

  Partition by(std::span<const u32> variables) {
    Partition result = Partition::whole(rows_);
    for (const u32 v : variables) refine(result, v);
    return result;
  }

 private:
  const Rows& rows_;
  std::vector<u32> slots_, seen_, moved_, ends_;
};

}  // namespace contextwise::count

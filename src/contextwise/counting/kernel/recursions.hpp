// Declares the widths of the recursion, which recursions_*.cpp compile. Files that do not include
// this header compile all of them again.
#pragma once

#include <cstddef>

#include "bigint.hpp"
#include "budget.hpp"
#include "cover.hpp"
#include "interval.hpp"
#include "uncovered.hpp"

#define CONTEXTWISE_RECURSION(N, W) \
  template Interval<Natural> uncovered_by_recursion<N, W>(const Cover&, Budget&, std::size_t)

namespace contextwise {

extern CONTEXTWISE_RECURSION(Wide<1>, 1);
extern CONTEXTWISE_RECURSION(Wide<1>, 2);
extern CONTEXTWISE_RECURSION(Wide<2>, 3);
extern CONTEXTWISE_RECURSION(Wide<2>, 4);
extern CONTEXTWISE_RECURSION(Wide<4>, 8);
extern CONTEXTWISE_RECURSION(Natural, 0);

}  // namespace contextwise

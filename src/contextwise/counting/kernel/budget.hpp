// The limits of a count.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>

#include "bigint.hpp"

namespace contextwise {

using Clock = std::chrono::steady_clock;

// Stops a count after a number of nodes, at a deadline, or when another thread sets `stop`.
struct Budget {
  static constexpr u64 UNLIMITED = std::numeric_limits<u64>::max();
  static constexpr u64 BETWEEN_LOOKS = 16;  // nodes between two looks at the clock

  u64 nodes = UNLIMITED;
  Clock::time_point deadline = Clock::time_point::max();
  const std::atomic<bool>* stop = nullptr;
  u64 used = 0;
  bool late = false;

  // Tests whether the deadline has passed or `stop` is set.
  bool is_over() const {
    return late || (stop && stop->load(std::memory_order_relaxed)) || Clock::now() >= deadline;
  }
  // Takes one node. Returns false if the budget is used up.
  bool enter() {
    if (late || used >= nodes) return false;
    if (++used % BETWEEN_LOOKS == 0) late = is_over();
    return true;
  }
  // Raises the limit. Returns false if no work can follow.
  bool extend(u64 to) {
    nodes = to;
    return !late && used < nodes;
  }
};

}  // namespace contextwise

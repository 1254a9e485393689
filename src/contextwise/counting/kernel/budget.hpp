// When to stop counting.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>

#include "bigint.hpp"

namespace contextwise {

using Clock = std::chrono::steady_clock;

// After so many nodes, at a time, or when someone says so.
struct Budget {
  static constexpr u64 UNLIMITED = std::numeric_limits<u64>::max();
  static constexpr u64 BETWEEN_LOOKS = 16;  // nodes, after which the clock is looked at

  u64 nodes = UNLIMITED;
  Clock::time_point deadline = Clock::time_point::max();
  const std::atomic<bool>* stop = nullptr;
  u64 used = 0;
  bool late = false;

  // Whether the time is over, or someone said so.
  bool is_over() const {
    return late || (stop && stop->load(std::memory_order_relaxed)) || Clock::now() >= deadline;
  }
  // One more node; false if there is no budget for it.
  bool enter() {
    if (late || used >= nodes) return false;
    if (++used % BETWEEN_LOOKS == 0) late = is_over();
    return true;
  }
  // More nodes; false if that brings nothing.
  bool extend(u64 to) {
    nodes = to;
    return !late && used < nodes;
  }
};

}  // namespace contextwise

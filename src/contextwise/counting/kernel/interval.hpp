// Bounds of a number.
#pragma once

namespace contextwise {

// A number between `low` and `low + gap`, both included. Nearly all intervals are closed (the gap
// is 0), and then arithmetic uses only `low`.
template <class N>
struct Interval {
  N low{};
  N gap{};

  Interval() = default;
  explicit Interval(const N& exact) : low(exact) {}
  explicit Interval(N&& exact) : low(static_cast<N&&>(exact)) {}
  Interval(const N& from, const N& to) : low(from) { set_high(to); }

  bool closed() const { return gap.is_zero(); }
  bool is_zero() const { return low.is_zero() && closed(); }
  N high() const {
    N result = low;
    result += gap;
    return result;
  }
  // Intersects two valid intervals.
  void meet(const Interval& other) {
    const N mine = high(), theirs = other.high();
    if (low < other.low) low = other.low;
    set_high(theirs < mine ? theirs : mine);
  }
  Interval& operator+=(const Interval& other) {
    low += other.low;
    gap += other.gap;
    return *this;
  }
  // The number subtracted must not be larger, although its upper bound may be.
  Interval& operator-=(const Interval& other) {
    if (closed() && other.closed()) {
      low -= other.low;
      return *this;
    }
    N most = high();
    most -= other.low;
    const N theirs = other.high();
    if (low < theirs)
      low = N(0);
    else
      low -= theirs;
    set_high(most);
    return *this;
  }
  Interval& operator*=(const Interval& other) {
    if (closed() && other.closed()) {
      low *= other.low;
      return *this;
    }
    N most = high();
    most *= other.high();
    low *= other.low;
    set_high(most);
    return *this;
  }
  Interval& operator*=(const N& factor) {
    low *= factor;
    if (!closed()) gap *= factor;
    return *this;
  }

 private:
  void set_high(const N& to) {
    gap = to;
    gap -= low;
  }
};

}  // namespace contextwise

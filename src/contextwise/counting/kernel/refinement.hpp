// Values grouped into classes: those that no set seen so far tells apart share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bigint.hpp"

namespace contextwise {

class Refinement {
 public:
  explicit Refinement(std::size_t values)
      : of_(values, 0), count_(values ? 1 : 0), inside_(values), outside_(values) {}

  // Splits every class into its values inside a set and those outside. Classes are numbered in the
  // order of their first values.
  template <class Has>
  void split(Has has) {
    std::fill_n(inside_.begin(), count_, NONE);
    std::fill_n(outside_.begin(), count_, NONE);
    count_ = 0;
    for (std::size_t value = 0; value < of_.size(); ++value) {
      u32& name = (has(value) ? inside_ : outside_)[of_[value]];
      if (name == NONE) name = count_++;
      of_[value] = name;
    }
  }

  u32 count() const { return count_; }
  // The class of each value.
  const std::vector<u32>& of() const { return of_; }
  // Whether each value is a class of its own, so that no set can split more.
  bool finest() const { return count_ == of_.size(); }

 private:
  static constexpr u32 NONE = ~u32{0};

  std::vector<u32> of_;
  u32 count_;
  std::vector<u32> inside_, outside_;  // the new class of what was one class
};

}  // namespace contextwise

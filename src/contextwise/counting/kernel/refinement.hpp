// Groups values into classes. Two values share a class if no set so far distinguishes them.
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

  // Splits every class into its values inside and outside a set. Classes are numbered in the order
  // of their first values.
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
  // Returns the class of each value.
  const std::vector<u32>& of() const { return of_; }
  // Tests whether each value is its own class, so that no set can split further.
  bool finest() const { return count_ == of_.size(); }

 private:
  static constexpr u32 NONE = ~u32{0};

  std::vector<u32> of_;
  u32 count_;
  std::vector<u32> inside_, outside_;  // new classes of an old class
};

}  // namespace contextwise

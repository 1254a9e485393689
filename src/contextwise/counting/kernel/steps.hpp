// The steps of the counting that a benchmark switches off one by one, to measure their effect.
#pragma once

#ifdef CONTEXTWISE_SWITCHES
#include <cstdlib>
#endif

namespace contextwise {

// benchmarks/switches.py reads the names from here.
enum class Step : unsigned {
  MERGING,     // features of one scope are merged
  TABLES,      // truth tables up to 14 variables
  WIDENING,    // widening
  ABSORPTION,  // absorption and widening
  SAME_UNION,  // one count where one model contains the other
  INCLUSION,   // inclusion and exclusion up to 8 cubes
  UNIT_RULE,   // unit rule
  COMPONENTS,  // components
  MEMORY,      // memory of subproblems
  LONG_CUBES,  // branching on a long cube
};

// Tests whether a step is used. In a build with CONTEXTWISE_SWITCHES, the environment variable
// CONTEXTWISE_OFF has a bit for each step that is not.
#ifdef CONTEXTWISE_SWITCHES
inline bool uses(Step step) {
  static const unsigned off = [] {
    const char* const text = std::getenv("CONTEXTWISE_OFF");
    return text ? static_cast<unsigned>(std::atoi(text)) : 0u;
  }();
  return !(off >> static_cast<unsigned>(step) & 1);
}
#else
constexpr bool uses(Step) { return true; }
#endif

}  // namespace contextwise

// SPDX-License-Identifier: MIT
// For tests: a chase that never leaves its line, a line that comes once, and one call too few.
#include "scenarios/machine/contender.hpp"

handoff::lab::machine::Operation handoff::lab::machine::contender(const std::string& metric) {
  if (metric == "cache_miss") return [](Burst&) { return Answer{loads, 0, 0}; };
  if (metric == "line_transfer") return [](Burst&) { return Answer{2 * round_trips, 0, 1}; };
  return [](Burst&) { return Answer{calls - 1, 0, 0}; };
}

// SPDX-License-Identifier: MIT
// Round numbers for the axes of charts.
#pragma once

#include <cmath>

namespace handoff::lab {

// The smallest of 1, 2, 5 times a power of ten that makes at most six steps up to `highest`.
inline double tick_step(double highest) {
  if (!(highest > 0)) return 1;
  const double magnitude = std::pow(10, std::floor(std::log10(highest)) - 1);
  for (const double factor : {1, 2, 5, 10, 20}) {
    if (highest / (factor * magnitude) <= 6) return factor * magnitude;
  }
  return 50 * magnitude;
}

}  // namespace handoff::lab

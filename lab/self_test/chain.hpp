// SPDX-License-Identifier: MIT
// The work of the self-test: a chain of operations each of which needs the one before, so that
// five percent more links take five percent longer, whatever the processor does side by side.
#pragma once

#include <cstdint>

namespace handoff::lab {

// The multiplier and the increment are those of Knuth's MMIX.
inline std::uint64_t chain(std::uint64_t value, std::uint64_t links) {
  for (std::uint64_t i = 0; i < links; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
  }
  return value;
}

}  // namespace handoff::lab

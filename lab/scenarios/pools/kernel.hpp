// SPDX-License-Identifier: MIT
// Work of a known length, for scenarios that need tasks of a size. Each step needs the result of
// the one before it, so that neither the compiler nor the processor can do two at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace handoff::lab::pools {

// `seed` after `steps` steps. What one task returns is the seed of the next on the same thread.
inline std::uint64_t burn(std::uint64_t seed, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(seed));
  }
  return seed;
}

// ns of one step on this machine now: the best of several, since others only ever slow it.
inline double burn_step_ns() {
  constexpr std::size_t steps = 200'000;
  double best = 1e9;
  std::uint64_t seed = 1;
  for (int trial = 0; trial < 20; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    seed = burn(seed, steps);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / steps);
  }
  return best;
}

}  // namespace handoff::lab::pools

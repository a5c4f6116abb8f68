// SPDX-License-Identifier: MIT
#include "peers/kernel.hpp"

namespace handoff::lab::peers {

std::uint64_t burn(std::uint64_t seed, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(seed));
  }
  return seed;
}

double burn_step_ns() {
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

std::size_t burn_steps(std::size_t ns) {
  if (ns == 0) return 0;
  return static_cast<std::size_t>(std::llround(static_cast<double>(ns) / burn_step_ns()));
}

}  // namespace handoff::lab::peers

// SPDX-License-Identifier: MIT
// The arithmetic peak of one thread: multiply-adds on registers alone. Each adds one to a lane, so
// the lanes' sum is the number that was really done.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab {

#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

struct MultiplyAdds {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  static constexpr std::size_t lanes = vector_bytes / sizeof(float);
  // More than latency times units of any processor known to us, few enough for 16 registers.
  static constexpr std::size_t chains = 12;
  static constexpr std::size_t in_a_step = chains * lanes;
  static constexpr std::size_t most_steps = std::size_t{1} << 23;  // a float counts up to 2^24

  // How many were done: steps * in_a_step.
  static double count(std::size_t steps) {
    volatile float one = 1;  // hides from the compiler that nothing needs to be computed
    const Vector ones = Vector{} + float{one};
    std::array<Vector, chains> sums{};
    for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
      for (Vector& sum : sums) sum = sum * ones + ones;
    }
    double done = 0;
    for (const Vector& sum : sums) {
      for (std::size_t lane = 0; lane < lanes; ++lane) done += static_cast<double>(sum[lane]);
    }
    return done;
  }
};

}  // namespace handoff::lab

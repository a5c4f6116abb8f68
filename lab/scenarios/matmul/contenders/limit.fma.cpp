// SPDX-License-Identifier: MIT
// The arithmetic peak: as many multiply-adds as the product needs, on registers alone. Each adds
// one to a lane, so the lanes' sum is the number that was really done.
#include <algorithm>
#include <array>
#include <cstring>

#include <omp.h>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
typedef float Vector __attribute__((vector_size(vector_bytes)));
constexpr std::size_t lanes = vector_bytes / sizeof(float);
// More than latency times units of any processor known to us, and few enough for 16 registers.
constexpr std::size_t chains = 12;
constexpr std::size_t in_a_step = chains * lanes;
constexpr std::size_t most_steps = std::size_t{1} << 23;  // a float counts exactly up to 2^24

double count_steps(std::size_t steps) {
  volatile float one = 1;  // hides from the compiler that nothing needs to be computed
  const Vector ones = Vector{} + float{one};
  std::array<Vector, chains> sums{};
  for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (Vector& sum : sums) sum = sum * ones + ones;
  }
  double count = 0;
  for (const Vector& sum : sums) {
    for (std::size_t lane = 0; lane < lanes; ++lane) count += static_cast<double>(sum[lane]);
  }
  return count;
}

}  // namespace

Operation contender(const Task& task) {
  const int width = std::min(static_cast<int>(task.width), omp_get_num_procs());
  const auto members = static_cast<std::size_t>(width);
  const std::size_t steps = task.m * task.n * task.k / (in_a_step * members) + 1;
  return [&task, width, steps] {
    double count = 0;
#pragma omp parallel num_threads(width) reduction(+ : count)
    for (std::size_t done = 0; done < steps; done += most_steps) {
      count += count_steps(std::min(most_steps, steps - done));
    }
    std::memcpy(task.output, &count, sizeof count);
  };
}

}  // namespace handoff::lab::matmul

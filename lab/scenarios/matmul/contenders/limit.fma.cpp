// SPDX-License-Identifier: MIT
// The arithmetic peak: as many multiply-adds as the product needs, on registers alone.
#include <omp.h>

#include "harness/multiply_adds.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  const int width = std::min(static_cast<int>(task.width), omp_get_num_procs());
  const auto members = static_cast<std::size_t>(width);
  const std::size_t steps = task.m * task.n * task.k / (MultiplyAdds::in_a_step * members) + 1;
  return [&task, width, steps] {
    double count = 0;
#pragma omp parallel num_threads(width) reduction(+ : count)
    for (std::size_t done = 0; done < steps; done += MultiplyAdds::most_steps) {
      count += MultiplyAdds::count(std::min(MultiplyAdds::most_steps, steps - done));
    }
    std::memcpy(task.output, &count, sizeof count);
  };
}

}  // namespace handoff::lab::matmul

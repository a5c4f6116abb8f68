// SPDX-License-Identifier: MIT
// OpenMP's parallel loop with its static schedule: equal blocks, no counter.
#include <algorithm>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [&task, rows = task.rows()] {
    const int width = static_cast<int>(task.width);
    const std::size_t claim = task.claim_rows();
#pragma omp parallel for schedule(static) num_threads(width)
    for (std::size_t first = 0; first < task.m; first += claim) {
      rows(first, std::min(first + claim, task.m));
    }
  };
}

}  // namespace handoff::lab::matmul

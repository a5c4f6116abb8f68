// SPDX-License-Identifier: MIT
// OpenMP's parallel loop. Guided: blocks that shrink, so that a CPU that is slow for a moment gets
// fewer rows, as with the others; fixed halves lose what two CPUs differ by (ADR 0014).
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [&task, rows = task.rows()] {
    const int width = static_cast<int>(task.width);
    const std::size_t claim = task.claim_rows();
#pragma omp parallel for schedule(guided) num_threads(width)
    for (std::size_t first = 0; first < task.m; first += claim) {
      rows(first, std::min(first + claim, task.m));
    }
  };
}

}  // namespace handoff::lab::matmul

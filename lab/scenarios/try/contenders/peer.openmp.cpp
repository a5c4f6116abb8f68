// SPDX-License-Identifier: MIT
// OpenMP's parallel loop. Guided: blocks that shrink, so that a CPU that is slow for a moment gets
// fewer items, as with the others (ADR 0014).
#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  return [&task, claim = task.handed()] {
    const int width = static_cast<int>(task.width);
#pragma omp parallel for schedule(guided) num_threads(width)
    for (std::size_t first = 0; first < task.items; first += claim) {
      run_items(first, std::min(first + claim, task.items));
    }
  };
}

}  // namespace handoff::lab::trial

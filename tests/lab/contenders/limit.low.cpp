// SPDX-License-Identifier: MIT
// For tests: a limit that did less than the cell's work.
#include <cstring>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [&task] {
    const double count = static_cast<double>(task.m * task.n * task.k) - 1;
    std::memcpy(task.output, &count, sizeof count);
  };
}

}  // namespace handoff::lab::matmul

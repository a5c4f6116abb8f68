// SPDX-License-Identifier: MIT
// For tests: computes for ever.
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [&task, rows = task.rows()] {
    for (;;) rows(0, task.m);
  };
}

}  // namespace handoff::lab::matmul

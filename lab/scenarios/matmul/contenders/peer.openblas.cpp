// SPDX-License-Identifier: MIT
// OpenBLAS with threads of its own.
#include "scenarios/matmul/blas.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  require_blas(task.width);
  return [&task] { multiply_rows(task.operands, 0, task.m); };
}

}  // namespace handoff::lab::matmul

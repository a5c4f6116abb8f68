// SPDX-License-Identifier: MIT
// For tests: one element of the answer is wrong.
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  return [&task, rows = task.rows()] {
    rows(0, task.m);
    if (const auto* o = std::get_if<Operands<float>>(&task.operands)) o->c[o->n * o->m / 2] += 1;
    if (const auto* o = std::get_if<Operands<double>>(&task.operands)) o->c[0] += 1;
  };
}

}  // namespace handoff::lab::matmul

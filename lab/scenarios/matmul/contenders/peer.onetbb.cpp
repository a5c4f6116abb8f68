// SPDX-License-Identifier: MIT
// oneTBB's parallel_for.
#include "peers/onetbb.hpp"
#include "scenarios/matmul/contender.hpp"

handoff::lab::matmul::Operation handoff::lab::matmul::contender(const Task& task) {
  return peers::repeated_loop(task.width, task.m, task.claim_rows(), task.rows());
}

// SPDX-License-Identifier: MIT
// What a contender of `tasks` is given: the cell to measure. It hands its pool to measure().
#pragma once

#include <cstddef>
#include <string>

#include "harness/contender.hpp"
#include "peers/answer.hpp"

namespace handoff::lab::tasks {

struct Task {
  std::string metric;
  std::size_t width;  // threads that execute, the waiting caller included where it helps
  std::size_t count;
  std::size_t steps;  // of work in a task
  bool idle;          // each batch meets a pool that has been idle for a millisecond
  peers::Answer* output = nullptr;
};

// Written by the contender, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::tasks

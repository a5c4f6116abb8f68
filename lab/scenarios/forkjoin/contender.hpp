// SPDX-License-Identifier: MIT
// What a contender of `forkjoin` is given: the cell to measure. It hands its pool to measure().
#pragma once

#include <cstddef>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/forkjoin/problems.hpp"

namespace handoff::lab::forkjoin {

struct Task {
  std::string problem;
  std::size_t width;
  Answer* output = nullptr;
};

// Written by the contender, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::forkjoin

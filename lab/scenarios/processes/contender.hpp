// SPDX-License-Identifier: MIT
// What a contender of `processes` is given. It hands its link to measure() (measure.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/processes/work.hpp"

namespace handoff::lab::processes {

struct Task {
  std::string metric;
  std::size_t bytes;
  Answer* output = nullptr;
};

// Sends all messages of an operation. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::processes

// SPDX-License-Identifier: MIT
// What a contender of `replay` is given: a load to replay. It hands its pool to measure().
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "harness/contender.hpp"
#include "scenarios/replay/load.hpp"

namespace handoff::lab::replay {

struct Task {
  LoadView load;
  std::size_t width;  // threads that execute pieces
  double step_ns;     // of burn()
  std::span<PieceAnswer> output;
};

using Operation = std::function<void(Burst&)>;

// Written by the contender, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::replay

// SPDX-License-Identifier: MIT
// What a contender of `loads` is given: the load that was drawn, and its pieces. It hands its way
// to measure().
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "harness/contender.hpp"
#include "scenarios/loads/draw.hpp"
#include "scenarios/loads/work.hpp"

namespace handoff::lab::loads {

struct Task {
  Load load;
  std::vector<Piece> pieces;
  std::size_t width;  // threads that execute, the caller included where it helps
  std::shared_ptr<std::size_t> shift;  // of the walks, another one in each operation
  Answer* output = nullptr;
};

// Written by the contender, usually `return measure<Way>(task);`. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::loads

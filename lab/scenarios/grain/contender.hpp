// SPDX-License-Identifier: MIT
// What a contender of `grain` is given: the cell to measure. It hands its pool to measure().
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "harness/contender.hpp"
#include "peers/answer.hpp"
#include "scenarios/grain/sweep.hpp"

namespace handoff::lab::grain {

struct Task {
  std::string metric;
  bool by_index;  // a loop's index each, else a task each
  std::size_t width;
  double step_ns;  // none for `loop`
  peers::Answer* output;
  std::span<Tiny> items;  // to be filled by `loop`
};

// Written by the contender, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::grain

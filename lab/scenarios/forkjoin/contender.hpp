// SPDX-License-Identifier: MIT
// What a contender of `forkjoin` is given. It hands its pool to measure(), which asks it for
// enter(f), to run the root of the problem, and for a nested Group (problems.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/forkjoin/problems.hpp"

namespace handoff::lab::forkjoin {

struct Task {
  std::string problem;
  std::size_t width;
  Answer* output;
};

using Operation = std::function<void(Burst&)>;

// Written by the contender. The task outlives it.
Operation contender(const Task& task);

template <class Pool>
Operation measure(const Task& task) {
  auto pool = std::make_shared<Pool>(task.width);
  return [&task, pool](Burst& burst) {
    pool->enter([&task, &pool] { *task.output = solve(*pool, task.problem); });
    burst.items(static_cast<double>(task.output->forks));
  };
}

}  // namespace handoff::lab::forkjoin

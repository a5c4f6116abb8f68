// SPDX-License-Identifier: MIT
// Measures a pool in `forkjoin`. A contender's Pool is made from a width and has enter(f), which
// runs the root of the problem, and a nested Group (problems.hpp).
#pragma once

#include "harness/contender.hpp"
#include "scenarios/forkjoin/problems.hpp"

namespace handoff::lab::forkjoin {

struct Task {
  explicit Task(const Parameters& given)
      : problem(given.text("problem")), width(given.number("width")) {}

  std::string problem;
  std::size_t width;
  Answer* output = nullptr;
};

// A contender's own, usually `return measure<Pool>(task);`. The task outlives it.
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

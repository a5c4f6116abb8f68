// SPDX-License-Identifier: MIT
// oneTBB's parallel_for.
#include "peers/onetbb.hpp"
#include "scenarios/try/contender.hpp"

handoff::lab::trial::Operation handoff::lab::trial::contender(const Task& task) {
  return peers::repeated_loop(task.width, task.items, std::max<std::size_t>(task.block, 1),
                              [](std::size_t first, std::size_t last) { run_items(first, last); });
}

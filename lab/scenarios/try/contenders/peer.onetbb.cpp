// SPDX-License-Identifier: MIT
// oneTBB's parallel_for in an arena of `width` threads, the caller included, with the partitioner
// for loops that run over the same data again (ADR 0014).
#include <algorithm>
#include <memory>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

using Range = tbb::blocked_range<std::size_t>;

Operation contender(const Task& task) {
  // Without it the arena gets no more threads than there are CPUs.
  auto threads = std::make_shared<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                       task.width);
  auto arena = std::make_shared<tbb::task_arena>(static_cast<int>(task.width));
  auto affinity = std::make_shared<tbb::affinity_partitioner>();
  return [&task, threads, arena, affinity] {
    arena->execute([&] {
      const auto body = [](const Range& range) { run_items(range.begin(), range.end()); };
      tbb::parallel_for(Range(0, task.items, std::max<std::size_t>(task.block, 1)), body,
                        *affinity);
    });
  };
}

}  // namespace handoff::lab::trial

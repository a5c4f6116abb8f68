// SPDX-License-Identifier: MIT
// This library's pool: a loop whose caller works with its threads.
#include <algorithm>
#include <memory>

#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  auto pool = std::make_shared<ThreadPool>(
      ThreadPoolOptions{.width = std::max<std::size_t>(task.width - 1, 1)});
  return [&task, pool] {
    parallel_for(*pool, 0, task.items, [](IndexRange range) { run_items(range.first, range.last); },
                 {.block = task.block});
  };
}

}  // namespace handoff::lab::trial

// SPDX-License-Identifier: MIT
// This library's pool: a task for each block, waited for as a group by a caller that helps.
#include <algorithm>
#include <memory>

#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  auto pool = std::make_shared<ThreadPool>(
      ThreadPoolOptions{.width = std::max<std::size_t>(task.width - 1, 1)});
  return [&task, pool, block = task.handed()] {
    TaskGroup group(*pool);
    for (std::size_t first = 0; first < task.items; first += block) {
      group.run([first, last = std::min(first + block, task.items)] { run_items(first, last); });
    }
    group.wait();
  };
}

}  // namespace handoff::lab::trial

// SPDX-License-Identifier: MIT
//
// Tasks of a group whose owner runs them all, as the pool's worker sleeps; and tasks that wait.
#include <cstdint>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "counted.hpp"

namespace handoff::test {

void groups() {
  ThreadPool pool(1);
  pool.pause();
  count(
      "TaskGroup.run + wait/eight tasks, instructions",
      [&](std::uint64_t i) {
        TaskGroup group(pool);
        for (int k = 0; k < 8; ++k) group.run([i] { keep(i); });
        group.wait();
      },
      8);
  count(
      "TaskGroup.run + wait/a task in a task, instructions",
      [&](std::uint64_t i) {
        TaskGroup group(pool);
        group.run([&pool, i] {
          TaskGroup inner(pool);
          inner.run([i] { keep(i); });
          inner.wait();
        });
        group.wait();
      },
      2);
  count("ThreadPool.post/instructions", [&](std::uint64_t) { pool.post([] {}); });
  pool.resume();
}

}  // namespace handoff::test

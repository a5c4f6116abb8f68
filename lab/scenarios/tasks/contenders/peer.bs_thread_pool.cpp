// SPDX-License-Identifier: MIT
// BS::thread_pool: one queue, a caller that only waits.
#include "scenarios/pools/bs_thread_pool.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::BsThreadPool>(task);
}

// SPDX-License-Identifier: MIT
// BS::thread_pool: tasks, or a loop in a block a thread.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/bs_thread_pool.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::BsThreadPool>(task);
}

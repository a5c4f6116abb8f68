// SPDX-License-Identifier: MIT
// This library's pool, mode active.
#include "scenarios/pools/own_pool.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::OwnPool<PoolMode::active>>(task);
}

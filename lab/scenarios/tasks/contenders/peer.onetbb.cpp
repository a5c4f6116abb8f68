// SPDX-License-Identifier: MIT
// oneTBB's task_group in an arena of `width` threads, the caller included: it helps as it waits.
#include "scenarios/pools/onetbb.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::OneTbb>(task);
}

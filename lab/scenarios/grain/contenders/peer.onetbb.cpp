// SPDX-License-Identifier: MIT
// oneTBB: a task_group, or parallel_for with equal blocks.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/onetbb.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::OneTbb>(task);
}

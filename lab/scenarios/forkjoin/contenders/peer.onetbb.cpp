// SPDX-License-Identifier: MIT
// oneTBB's task_group.
#include "scenarios/forkjoin/contender.hpp"
#include "scenarios/pools/onetbb.hpp"

handoff::lab::forkjoin::Operation handoff::lab::forkjoin::contender(const Task& task) {
  return measure<pools::OneTbb>(task);
}

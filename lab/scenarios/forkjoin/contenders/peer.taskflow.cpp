// SPDX-License-Identifier: MIT
// Taskflow's task groups.
#include "scenarios/forkjoin/contender.hpp"
#include "scenarios/pools/taskflow.hpp"

handoff::lab::forkjoin::Operation handoff::lab::forkjoin::contender(const Task& task) {
  return measure<pools::Taskflow>(task);
}

// SPDX-License-Identifier: MIT
// Taskflow's executor and its asynchronous tasks.
#include "scenarios/pools/taskflow.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::Taskflow>(task);
}

// SPDX-License-Identifier: MIT
// Taskflow: asynchronous tasks, or a loop in equal blocks.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/taskflow.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::Taskflow>(task);
}

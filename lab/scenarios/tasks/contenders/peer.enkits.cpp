// SPDX-License-Identifier: MIT
// enkiTS, whose caller is one of its threads.
#include "scenarios/pools/enkits.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::EnkiTs>(task);
}

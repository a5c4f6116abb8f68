// SPDX-License-Identifier: MIT
// OpenMP's tasks, made by one thread of a parallel region.
#include "scenarios/pools/openmp.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::OpenMp>(task);
}

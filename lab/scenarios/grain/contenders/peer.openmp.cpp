// SPDX-License-Identifier: MIT
// OpenMP: tasks, or a loop with its static schedule.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/openmp.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::OpenMp>(task);
}

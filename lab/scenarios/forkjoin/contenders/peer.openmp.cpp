// SPDX-License-Identifier: MIT
// OpenMP's task and taskwait.
#include "scenarios/forkjoin/contender.hpp"
#include "scenarios/pools/openmp.hpp"

handoff::lab::forkjoin::Operation handoff::lab::forkjoin::contender(const Task& task) {
  return measure<pools::OpenMp>(task);
}

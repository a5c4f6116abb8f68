// SPDX-License-Identifier: MIT
// enkiTS's task sets of one.
#include "scenarios/forkjoin/contender.hpp"
#include "scenarios/pools/enkits.hpp"

handoff::lab::forkjoin::Operation handoff::lab::forkjoin::contender(const Task& task) {
  return measure<pools::EnkiTs>(task);
}

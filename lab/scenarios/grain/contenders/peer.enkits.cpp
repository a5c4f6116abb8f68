// SPDX-License-Identifier: MIT
// enkiTS: task sets of one, or of all indices.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/enkits.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::EnkiTs>(task);
}

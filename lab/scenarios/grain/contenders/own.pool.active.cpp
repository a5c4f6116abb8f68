// SPDX-License-Identifier: MIT
// This library's pool, mode active.
#include "scenarios/pools/own_pool.hpp"
#include "scenarios/grain/contender.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::OwnPool<PoolMode::active>>(task);
}

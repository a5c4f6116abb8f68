// SPDX-License-Identifier: MIT
// This library's pool, mode fixed.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/own_pool.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::OwnPool<PoolMode::fixed>>(task);
}

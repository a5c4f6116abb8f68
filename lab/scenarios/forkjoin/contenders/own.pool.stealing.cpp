// SPDX-License-Identifier: MIT
// This library's pool, mode stealing.
#include "scenarios/forkjoin/contender.hpp"
#include "scenarios/pools/own_pool.hpp"

handoff::lab::forkjoin::Operation handoff::lab::forkjoin::contender(const Task& task) {
  return measure<pools::OwnPool<PoolMode::stealing>>(task);
}

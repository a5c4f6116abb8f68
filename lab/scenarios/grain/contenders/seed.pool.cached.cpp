// SPDX-License-Identifier: MIT
// The article's cached mode.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/seed_pool.hpp"
#include "scenarios/pools/seed_queue_pool.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::SeedPool<pools::SeedCached>>(task);
}

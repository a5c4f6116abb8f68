// SPDX-License-Identifier: MIT
// The article's fixed mode.
#include "scenarios/pools/seed_pool.hpp"
#include "scenarios/pools/seed_queue_pool.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::SeedPool<pools::SeedFixed>>(task);
}

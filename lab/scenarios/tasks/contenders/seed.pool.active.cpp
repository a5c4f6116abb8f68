// SPDX-License-Identifier: MIT
// The article's active mode: each worker has a public queue, which pushes fill, and a private one,
// which it empties; the two are swapped when the private one is empty. A push looks at all workers
// and takes the one with the fewest public tasks.
#include "scenarios/pools/seed_active_pool.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::SeedPool<pools::Active>>(task);
}

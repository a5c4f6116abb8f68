// SPDX-License-Identifier: MIT
// For tests: a queue that delivers its fifth event twice.
#include "miscounting_queue.hpp"

handoff::lab::events::Operation handoff::lab::events::contender(const Task& task) {
  return measure<MiscountingQueue<2>>(task);
}

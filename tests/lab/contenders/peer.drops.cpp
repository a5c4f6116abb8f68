// SPDX-License-Identifier: MIT
// For tests: a queue that loses its fifth event.
#include "miscounting_queue.hpp"

handoff::lab::events::Operation handoff::lab::events::contender(const Task& task) {
  return measure<MiscountingQueue<0>>(task);
}

// SPDX-License-Identifier: MIT
// atomic_queue's ring, in its form for one thread on each side where there is one. It has no way to
// sleep.
#include "peers/atomic_queue.hpp"
#include "scenarios/channels/measure.hpp"

handoff::lab::Operation handoff::lab::channels::contender(const Task& task) {
  return task.one_each() ? measure<peers::AtomicQueue<Message, capacity, true>>(task)
                         : measure<peers::AtomicQueue<Message, capacity, false>>(task);
}

// SPDX-License-Identifier: MIT
// This library's ring for one producer and one consumer, polled.
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/channels/own_queues.hpp"

handoff::lab::channels::Operation handoff::lab::channels::contender(const Task& task) {
  return measure<OwnRing<SpscRing<Message>>>(task);
}

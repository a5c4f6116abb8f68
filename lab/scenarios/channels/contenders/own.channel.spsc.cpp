// SPDX-License-Identifier: MIT
// This library's channel on a ring for one producer and one consumer.
#include <handoff/queue/channel.hpp>
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/channels/own_queues.hpp"

handoff::lab::channels::Operation handoff::lab::channels::contender(const Task& task) {
  return measure<OwnChannel<Channel<Message, SpscRing<Message>>>>(task);
}

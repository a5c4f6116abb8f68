// SPDX-License-Identifier: MIT
// This library's ring for any number of threads, polled.
#include <handoff/queue/mpmc_ring.hpp>

#include "scenarios/channels/own_queues.hpp"

handoff::lab::channels::Operation handoff::lab::channels::contender(const Task& task) {
  return measure<OwnRing<MpmcRing<Message>>>(task);
}

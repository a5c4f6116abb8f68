// SPDX-License-Identifier: MIT
// This library's queues in `channels`: channels wait, rings are polled.
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/channels/own_queues.hpp"

namespace handoff::lab::channels {

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {// This library's channel as one gets it: any number of threads, which sleep while they wait.
       {"own.channel", measure<OwnChannel<Channel<Message>>>},
       // This library's channel on a ring for one producer and one consumer.
       {"own.channel.spsc", measure<OwnChannel<Channel<Message, SpscRing<Message>>>>},
       // This library's ring for any number of threads, polled.
       {"own.mpmc_ring", measure<OwnRing<MpmcRing<Message>>>},
       // This library's ring for one producer and one consumer, polled.
       {"own.spsc_ring", measure<OwnRing<SpscRing<Message>>>}})(task);
}

}  // namespace handoff::lab::channels

// SPDX-License-Identifier: MIT
// This library's channel as one gets it: any number of threads, which sleep while they wait.
#include <handoff/queue/channel.hpp>

#include "scenarios/channels/own_queues.hpp"

handoff::lab::channels::Operation handoff::lab::channels::contender(const Task& task) {
  return measure<OwnChannel<Channel<Message>>>(task);
}

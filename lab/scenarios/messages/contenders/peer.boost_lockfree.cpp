// SPDX-License-Identifier: MIT
// Boost.Lockfree: its ring for one producer and one consumer, and for others its queue.
#include "peers/boost_queues.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {

template <class Message>
using OneEach = peers::BoostRing<Message, capacity>;
template <class Message>
using Many = peers::BoostQueue<Message, capacity>;

Operation contender(const Task& task) {
  return task.one_each() ? measure<OneEach>(task) : measure<Many>(task);
}

}  // namespace handoff::lab::messages

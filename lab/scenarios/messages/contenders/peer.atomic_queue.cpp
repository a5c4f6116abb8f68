// SPDX-License-Identifier: MIT
// atomic_queue's ring for items of any type, in its form for one thread on each side where there is
// one. It has no way to sleep and no batches.
#include "peers/atomic_queue.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {

template <class Message>
using OneEach = peers::AtomicQueue<Message, capacity, true>;
template <class Message>
using Many = peers::AtomicQueue<Message, capacity, false>;

Operation contender(const Task& task) {
  return task.one_each() ? measure<OneEach>(task) : measure<Many>(task);
}

}  // namespace handoff::lab::messages

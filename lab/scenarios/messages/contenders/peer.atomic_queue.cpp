// SPDX-License-Identifier: MIT
// atomic_queue's ring for items of any type, in its form for one thread on each side where there is
// one. It has no way to sleep and no batches.
#include "peers/atomic_queue.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
struct OneEach : peers::AtomicQueue<Message, capacity, true> {
  explicit OneEach(const Task& /*task*/) {}
};
template <class Message>
struct Many : peers::AtomicQueue<Message, capacity, false> {
  explicit Many(const Task& /*task*/) {}
};

}  // namespace

Operation contender(const Task& task) {
  return task.one_each() ? measure<OneEach>(task) : measure<Many>(task);
}

}  // namespace handoff::lab::messages

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
// One that pushes may be overtaken by itself: while it is held up in its place, and one that pops
// waits there, a push a round later may fill that place first.
template <class Message>
struct Many : peers::AtomicQueue<Message, capacity, false> {
  static constexpr bool unordered = true;
  explicit Many(const Task& /*task*/) {}
};

}  // namespace

Operation contender(const Task& task) {
  return task.one_each() ? measure<OneEach>(task) : measure<Many>(task);
}

}  // namespace handoff::lab::messages

// SPDX-License-Identifier: MIT
// atomic_queue's ring, in its form for one thread on each side where there is one. It has no way to
// sleep.
#include "peers/atomic_queue.hpp"
#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

template <bool kOneEach>
struct AtomicQueue : peers::AtomicQueue<Message, capacity, kOneEach> {
  explicit AtomicQueue(const Task& /*task*/) {}
};

}  // namespace

Operation contender(const Task& task) {
  return task.one_each() ? measure<AtomicQueue<true>>(task) : measure<AtomicQueue<false>>(task);
}

}  // namespace handoff::lab::channels

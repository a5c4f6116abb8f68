// SPDX-License-Identifier: MIT
// atomic_queue's ring for items of any type, in its form for one thread on each side where there is
// one. It has no way to sleep.
#include <atomic_queue/atomic_queue.h>

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {
namespace {

template <bool kOneEach>
class AtomicQueue {
 public:
  explicit AtomicQueue(const Task& /*task*/) {}

  bool try_push(const Message& message) { return queue_.try_push(message); }
  bool try_pop(Message& message) { return queue_.try_pop(message); }

 private:
  static constexpr bool kLittleContention = true;
  static constexpr bool kThroughput = true;
  static constexpr bool kTotalOrder = false;
  atomic_queue::AtomicQueue2<Message, capacity, kLittleContention, kThroughput, kTotalOrder,
                             kOneEach>
      queue_;
};

}  // namespace

Operation contender(const Task& task) {
  return task.one_each() ? measure<AtomicQueue<true>>(task) : measure<AtomicQueue<false>>(task);
}

}  // namespace handoff::lab::channels

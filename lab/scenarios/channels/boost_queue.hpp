// SPDX-License-Identifier: MIT
// The queues of Boost.Lockfree in `channels`. They have no way to sleep.
#pragma once

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {

template <class Queue>
class BoostQueue {
 public:
  explicit BoostQueue(const Task& /*task*/) {}

  bool try_push(const Message& message) { return queue_.push(message); }
  bool try_pop(Message& message) { return queue_.pop(message); }

 private:
  Queue queue_;
};

}  // namespace handoff::lab::channels

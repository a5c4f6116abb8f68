// SPDX-License-Identifier: MIT
// This library's queues in `messages`: what rings and channels have in common. Messages are made
// and read in their places; a batch is made elsewhere and moved in.
#pragma once

#include <handoff/core/status.hpp>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {

template <class Queue>
class OwnQueue {
 public:
  explicit OwnQueue(const Task& /*task*/) : queue_(capacity) {}

  bool try_publish(const Content& content) { return queue_.try_emplace(content) == Status::ok; }
  std::size_t try_push_batch(std::span<typename Queue::value_type> messages) {
    return queue_.try_push_batch(messages);
  }
  template <class F>
  std::size_t visit(F& f) {
    return queue_.consume(f, batch);
  }

 protected:
  Queue queue_;
};

}  // namespace handoff::lab::messages

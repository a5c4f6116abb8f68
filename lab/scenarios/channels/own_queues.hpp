// SPDX-License-Identifier: MIT
// This library's queues in `channels`: channels wait, rings are polled.
#pragma once

#include <handoff/core/status.hpp>

#include "scenarios/channels/measure.hpp"

namespace handoff::lab::channels {

template <class Channel>
class OwnChannel {
 public:
  explicit OwnChannel(const Task& /*task*/) : channel_(capacity) {}

  void push(const Message& message) { require_ok(channel_.push(message)); }
  void pop(Message& message) { require_ok(channel_.pop(message)); }

 private:
  static void require_ok(Status status) {
    if (status != Status::ok) throw std::runtime_error("refused");
  }

  Channel channel_;
};

template <class Ring>
class OwnRing {
 public:
  explicit OwnRing(const Task& /*task*/) : ring_(capacity) {}

  bool try_push(const Message& message) { return ring_.try_push(message) == Status::ok; }
  bool try_pop(Message& message) { return ring_.try_pop(message) == Status::ok; }

 private:
  Ring ring_;
};

}  // namespace handoff::lab::channels

// SPDX-License-Identifier: MIT
// What a contender of `messages` is given. It hands its queue to measure() (measure.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/messages/work.hpp"

namespace handoff::lab::messages {

struct Task {
  std::string metric;
  std::size_t producers;
  std::size_t consumers;
  std::size_t bytes;  // of a message
  bool batches;       // producers publish as many as `batch` at once, or one at a time
  bool sleeps;        // a consumer that waits in vain, or it never does
  double load;        // of a latency: percent of the highest rate at which it keeps pace
  Answer* output = nullptr;

  // Whether each side is one thread.
  [[nodiscard]] bool one_each() const { return producers == 1 && consumers == 1; }
  // How often each message is received.
  [[nodiscard]] std::size_t copies() const { return metric == "broadcast" ? consumers : 1; }
};

// Sends all messages once. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::messages

// SPDX-License-Identifier: MIT
// What a contender of `channels` is given. It hands its queue to measure() (measure.hpp).
#pragma once

#include <cstddef>

#include "harness/contender.hpp"
#include "scenarios/channels/work.hpp"

namespace handoff::lab::channels {

struct Task {
  std::size_t producers;
  std::size_t consumers;
  Answer* output = nullptr;

  // Whether each side is one thread.
  [[nodiscard]] bool one_each() const { return producers == 1 && consumers == 1; }
};

// Sends all messages once. The task outlives it.
Operation contender(const Task& task);

}  // namespace handoff::lab::channels

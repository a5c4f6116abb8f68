// SPDX-License-Identifier: MIT
//
// The options of an EventQueue's constructor.
//
//   handoff::EventQueue<int, void(), Bounded> queue({.capacity = 64});
//   handoff::EventQueue<int, void()> patient({.spin_for = 0ns});
#pragma once

#include <chrono>
#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a queue that grows is told.
struct EventQueueOptions {
  // How long wait() looks before it sleeps: less latency for more CPU. Negative: 20 microseconds,
  // about what a sleep and a wake-up cost, and none where no other thread could run meanwhile.
  std::chrono::nanoseconds spin_for{-1};
};

// What a queue with a bound is told; Policies::on_full gives it the bound.
struct BoundedEventQueueOptions {
  // Events that may wait: at least 1, or `unbounded`.
  std::size_t capacity = 1024;

  // As above.
  std::chrono::nanoseconds spin_for{-1};
};

}}  // namespace handoff::HANDOFF_ABI

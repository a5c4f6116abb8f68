// SPDX-License-Identifier: MIT
//
// The options of an EventQueue's constructor.
//
//   handoff::EventQueue<int, void(), Bounded> queue({.on_full = handoff::OnFull::wait});
//   handoff::EventQueue<int, void()> patient({.spin_for = 0ns});
#pragma once

#include <chrono>
#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/on_full.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a queue that grows is told.
struct EventQueueOptions {
  // How long wait() looks before it sleeps: less latency for more CPU. Negative: 20 microseconds,
  // about what a sleep and a wake-up cost, and none where no other thread could run meanwhile.
  std::chrono::nanoseconds spin_for{-1};
};

// What a queue with a bound is told; Policies::bounded gives it the bound.
struct BoundedEventQueueOptions {
  // Events that may wait: at least 1, or `unbounded`.
  std::size_t capacity = 1024;

  // What enqueue() does with one event too many: reject, wait or overwrite_oldest.
  OnFull on_full = OnFull::reject;

  // As above.
  std::chrono::nanoseconds spin_for{-1};
};

}}  // namespace handoff::HANDOFF_ABI

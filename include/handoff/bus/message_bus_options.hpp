// SPDX-License-Identifier: MIT
//
// The options of a message bus's constructor.
//
//   handoff::MessageBus<Reading> bus({.capacity = 4096, .on_full = handoff::OnFull::wait});
//   handoff::LanedMessageBus<Reading> laned({.capacity = 256, .lanes = 4});
//   handoff::PriorityMessageBus<Reading, Alarm> first({.capacity = 256, .starvation_limit = 9});
#pragma once

#include <chrono>
#include <cstddef>

#include <handoff/bus/admission.hpp>
#include <handoff/config.hpp>
#include <handoff/core/on_full.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a bus with one order for all is told.
struct MessageBusOptions {
  // Messages that may wait, rounded up to a power of two: at least 1; more than there can be throws
  // std::length_error.
  std::size_t capacity = 1024;

  // What publish() does with one message too many: reject or wait.
  OnFull on_full = OnFull::reject;

  // Places that are kept for some classes of messages.
  Reserve reserve = {};

  // How long wait() looks before it sleeps: less latency for more CPU. 0: not at all;
  // nanoseconds::max(): it never sleeps. Negative: 20 microseconds, about what a sleep and a
  // wake-up cost, and none where no other thread could run meanwhile.
  std::chrono::nanoseconds spin_for{-1};
};

// What a bus that keeps each producer's order is told.
struct LanedMessageBusOptions {
  // As above, of each lane, and of the one that is shared by all producers that have none.
  std::size_t capacity = 1024;

  // As above.
  OnFull on_full = OnFull::reject;

  // How many producers may have a lane at a time.
  std::size_t lanes = 8;

  // As above.
  Reserve reserve = {};
  std::chrono::nanoseconds spin_for{-1};
};

// What a bus that hands out the most urgent message first is told.
struct PriorityMessageBusOptions {
  // As above, of each priority: readings that fill their places leave those of alarms alone.
  std::size_t capacity = 1024;

  // As above.
  OnFull on_full = OnFull::reject;

  // How many more urgent messages may pass one that waits at the front of its priority; then it
  // comes. With 9, where urgent and normal ones wait all the time, one of ten is a normal one. 0:
  // any number, so it may wait for ever.
  unsigned starvation_limit = 0;

  // As above.
  std::chrono::nanoseconds spin_for{-1};
};

}}  // namespace handoff::HANDOFF_ABI

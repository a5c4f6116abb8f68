// SPDX-License-Identifier: MIT
//
// The options of a message bus's constructor.
//
//   handoff::MessageBus<Reading> bus({.capacity = 4096, .admission = {.low = 50}});
//   handoff::LanedMessageBus<Reading> laned({.capacity = 256, .lanes = 4});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Up to which part of the capacity, in percent, a message of this priority is admitted. From 1 to
// 100, and none higher than the one before; each class has at least one place.
struct Admission {
  unsigned high = 100;
  unsigned normal = 80;
  unsigned low = 60;
};

// Of a bus with one order for all.
struct MessageBusOptions {
  // Messages that may wait, rounded up to a power of two. 0, and more than there can be, throws
  // std::length_error.
  std::size_t capacity = 1024;

  // Up to which depth each class gets in.
  Admission admission = {};

  // How long wait() looks before it sleeps: less latency for more CPU. 0: not at all;
  // nanoseconds::max(): it never sleeps. Negative: 20 microseconds, about what a sleep and a
  // wake-up cost, and none where no other thread could run meanwhile.
  std::chrono::nanoseconds spin_for{-1};
};

// Of a bus that keeps each producer's order.
struct LanedMessageBusOptions {
  // As above, of each lane, and of the one that is shared by all producers that have none.
  std::size_t capacity = 1024;

  // How many producers may have a lane at a time.
  std::size_t lanes = 8;

  // As above.
  Admission admission = {};
  std::chrono::nanoseconds spin_for{-1};
};

// Which messages a bus refuses now for want of room. Each level includes those before.
enum class Pressure : std::uint8_t {
  none,    // it admits all
  low,     // it refuses Priority::low
  normal,  // ... and Priority::normal
  high,    // it refuses all
};

}}  // namespace handoff::HANDOFF_ABI

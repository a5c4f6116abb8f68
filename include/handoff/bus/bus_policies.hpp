// SPDX-License-Identifier: MIT
//
// How a program customises its message buses: a struct derived from BusPolicies with other values.
// What is off costs nothing.
//
//   struct Telemetry : handoff::BusPolicies {
//     static constexpr bool senders = true;
//     static constexpr bool times = true;
//   };
//   handoff::BasicMessageBus<Telemetry, Reading, Command> bus;
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// In which order a bus hands its messages out.
enum class MessageOrder : std::uint8_t {
  total,         // one for all producers, the same for all that look
  per_producer,  // each producer's own: what two producers publish comes in any order
  by_priority,  // the most urgent first; those of one Priority as in `total`
};

// Those of a MessageBus, to derive from.
struct BusPolicies {
  // One of the three.
  static constexpr MessageOrder order = MessageOrder::total;

  // The size up to which a message lies in its place. A larger one is allocated, so that it does
  // not make all places as large.
  static constexpr std::size_t inline_bytes = ~std::size_t{0};

  // What a message carries besides: a number of its sender, its topic, and when it was published,
  // which reads the clock (about 25 ns).
  static constexpr bool senders = false;
  static constexpr bool topics = false;
  static constexpr bool times = false;
};

// Those of a LanedMessageBus, to derive from.
struct LanedBusPolicies : BusPolicies {
  // As above.
  static constexpr MessageOrder order = MessageOrder::per_producer;
};

// Those of a PriorityMessageBus, to derive from.
struct PriorityBusPolicies : BusPolicies {
  // As above.
  static constexpr MessageOrder order = MessageOrder::by_priority;
};

}}  // namespace handoff::HANDOFF_ABI

// SPDX-License-Identifier: MIT
//
// Which messages a bus lets in while it fills: a part of its places may be kept for those that must
// not be refused.
//
//   handoff::MessageBus<Reading, Alarm> bus({.capacity = 256, .reserve = {.urgent = 10}});
//   handoff::Status s = bus.publish(Alarm{7}, handoff::Admission::urgent);
//
// It does not change the order: what was let in is handed out as it came. In a PriorityMessageBus
// the most urgent comes first, and each priority has places of its own.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// The class of a message.
enum class Admission : std::uint8_t {
  urgent,  // may take each place
  normal,  // the default: may take all but those kept for urgent ones
  low,  // may take those that are kept for nobody
};

// Percent of the places that are kept; 100 at most in total. Parts of a place count as a whole one,
// but each class has at least one place.
struct Reserve {
  unsigned urgent = 0;  // for urgent messages alone
  unsigned normal = 0;  // and further ones for urgent and normal messages
};

// Which messages a bus refuses now for want of room. Each level includes those before.
enum class Pressure : std::uint8_t {
  none,  // it lets in all
  low,  // it refuses Admission::low
  normal,  // ... and Admission::normal
  urgent,  // it refuses all
};

}}  // namespace handoff::HANDOFF_ABI

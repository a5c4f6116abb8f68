// SPDX-License-Identifier: MIT
// What is handed over in the scenario `events`, and the sum that every listener together comes to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace handoff::lab::events {

struct Payload {
  std::uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};
static_assert(sizeof(Payload) == 64);

// The first word tells events, or passes over a list, apart.
inline Payload payload(std::uint64_t number) {
  Payload made;
  made.words[0] = number;
  return made;
}

// What the listener with this number adds to the sum.
inline std::uint64_t heard(std::uint64_t listener, const Payload& payload) {
  return payload.words[0] ^ (payload.words[listener % 8] + listener);
}

// Passes over a list in one operation: about so many calls of a listener.
inline constexpr std::size_t calls_in_operation = 100'000;
inline std::size_t passes(std::size_t listeners) { return calls_in_operation / listeners; }

}  // namespace handoff::lab::events

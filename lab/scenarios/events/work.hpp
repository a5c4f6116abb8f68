// SPDX-License-Identifier: MIT
// What is handed over in the scenario `events`, and the sum that every listener together comes to.
// Both sides know it: the contender does the work, the coordinator the reckoning.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::events {

struct Payload {
  std::uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};

  // The first word tells events, or passes over a list, apart; the last one may be a time.
  std::uint64_t& number() { return words[0]; }
  std::uint64_t& sent() { return words[7]; }
  std::uint64_t sent() const { return words[7]; }
};
static_assert(sizeof(Payload) == 64);

inline Payload payload(std::uint64_t number) {
  Payload made;
  made.number() = number;
  return made;
}

// What the listener with this number adds to the sum.
inline std::uint64_t heard(std::uint64_t listener, const Payload& payload) {
  return payload.words[0] ^ (payload.words[1 + listener % 6] + listener);
}

// Passes over a list in one operation: about so many calls of a listener.
inline constexpr std::size_t calls_in_operation = 100'000;
inline std::size_t passes(std::size_t listeners) { return calls_in_operation / listeners; }

// Events that an active object gets in one operation: as fast as they come, or at a steady pace.
inline constexpr std::size_t saturating_events = 500'000;
inline constexpr std::size_t paced_events = 5'000;
inline constexpr std::chrono::nanoseconds pace{10'000};

// A consumer that may sleep does so after this time without an event.
inline constexpr std::chrono::nanoseconds patience{50'000};

inline bool is_latency(const std::string& metric) { return metric.starts_with("latency_"); }

// Events in one operation, where the metric has no `count`.
inline std::size_t events_of(const std::string& metric) {
  return is_latency(metric) ? paced_events : saturating_events;
}

}  // namespace handoff::lab::events

// SPDX-License-Identifier: MIT
// What a way of `try` answers: known to both sides.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::trial {

// What a contender saw itself: the first thing that was not as it must be.
enum class Fault : std::uint64_t {
  none,
  other_pass,   // a later pass gave another digest
  other_order,  // backwards gave another digest
  other_items,  // not each item was run once
};

struct Answer {
  std::uint64_t digest;  // of the first pass
  std::uint64_t other;   // what was there instead, where there is a fault
  Fault fault;
  std::uint64_t items;
  std::uint64_t in_given_memory;
};

// Names of figures: of a pass whose calls are looked at, in ns of all members together.
inline constexpr const char* kWatchedNs = "watched_ns";  // the pass itself, once
inline constexpr const char* kBusyNs = "busy_ns";        // inside the kernel
inline constexpr const char* kLateNs = "late_ns";        // until a member's first item
inline constexpr const char* kEarlyNs = "early_ns";      // from its last item to the end
inline constexpr const char* kBetweenNs = "between_ns";  // between items

// How the kernel is named to a contender: a path may have spaces, which a parameter cannot.
inline constexpr const char* kKernelVariable = "HANDOFF_TRY_KERNEL";

}  // namespace handoff::lab::trial

// SPDX-License-Identifier: MIT
//
// What a consumer of a broadcast asks for when it joins (broadcast.hpp).
#pragma once

#include <chrono>

#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/wrong_field.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How a consumer of a broadcast behaves.
struct BroadcastOptions {
  // Each message comes to this consumer after those have seen it: `{a, b}`, consumers of the same
  // broadcast, eight at most. To be named is to be used: those must not leave meanwhile.
  detail::BroadcastAfter after = {};

  // How long a wait looks before it sleeps: less latency for more CPU. 0: not at all;
  // nanoseconds::max(): it never sleeps, and yields now and then. Negative: 20 microseconds, about
  // what a sleep and a wake-up cost, and none where no other thread could run meanwhile.
  std::chrono::nanoseconds spin_for{-1};
};

// For consumers that may lose messages: what one lost another may see, so none is after
// another.
struct LossyBroadcastOptions {
  [[no_unique_address]] detail::CalledAfter after = {};  // no field

  // As above.
  std::chrono::nanoseconds spin_for{-1};
};

}}  // namespace handoff::HANDOFF_ABI

// SPDX-License-Identifier: MIT
//
// How a program customises its broadcasts: a struct derived from BroadcastPolicies with other
// values.
//
//   struct Ticker : handoff::BroadcastPolicies {
//     static constexpr bool many_producers = false;
//     static constexpr handoff::OnFull on_full = handoff::OnFull::overwrite_oldest;
//   };
//   handoff::Broadcast<Tick, Ticker> ticks(256);
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/on_full.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct BroadcastPolicies {
  // Whether any thread may publish. A single producer publishes without a read-modify-write; what
  // ends or is copied while it publishes must not publish here.
  static constexpr bool many_producers = true;

  // wait: the slowest consumer holds the producers back; try_* say `full`, the others wait.
  // overwrite_oldest: it loses the oldest messages instead, and is told how many.
  static constexpr OnFull on_full = OnFull::wait;
};

// One producer; a slow consumer holds it back.
struct OneProducer : BroadcastPolicies {
  static constexpr bool many_producers = false;
};

}}  // namespace handoff::HANDOFF_ABI

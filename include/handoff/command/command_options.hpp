// SPDX-License-Identifier: MIT
//
// What a command bucket may be told: its policies when it is compiled, its options when it is made.
//
//   struct Bounded : handoff::CommandPolicies {
//     static constexpr handoff::OnFull on_full = handoff::OnFull::reject;
//   };
//   handoff::BasicCommandBucket<Bounded, std::uint64_t, Gpu> bucket({.memory_most = 8 << 20});
#pragma once

#include <cstddef>
#include <limits>

#include <handoff/config.hpp>
#include <handoff/core/on_full.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Those of a CommandBucket, to derive from.
struct CommandPolicies {
  // grow: as far as the system lets it. reject: up to the option memory_most; then try_add() says
  // no, and add() throws std::length_error.
  static constexpr OnFull on_full = OnFull::grow;
};

// What a bucket may be told when it is made.
struct CommandBucketOptions {
  // Bytes of commands and their keys that a recording may take; only where the policy is reject.
  std::size_t memory_most = std::numeric_limits<std::size_t>::max();
};

}}  // namespace handoff::HANDOFF_ABI

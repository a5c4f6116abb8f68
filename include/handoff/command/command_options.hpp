// SPDX-License-Identifier: MIT
//
// The options of a command bucket's constructor.
//
//   handoff::CommandBucket<std::uint64_t, Gpu> bucket({.memory_most = 8 << 20});
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/capacity.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a bucket may be told when it is made.
struct CommandBucketOptions {
  // Bytes of commands and their keys that a recording may take. With `unbounded` it grows as far as
  // the system lets it, up to 16 GiB.
  std::size_t memory_most = unbounded;
};

}}  // namespace handoff::HANDOFF_ABI

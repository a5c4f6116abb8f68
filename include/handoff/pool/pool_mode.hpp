// SPDX-License-Identifier: MIT
//
// How a pool passes its tasks to its threads: ThreadPoolOptions::mode.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

enum class PoolMode : std::uint8_t {
  stealing,  // a deque for each worker; idle workers steal from the others
  fixed,     // one queue: tasks begin in the order in which they were submitted
  active,    // queues for each worker, which submitters fill evenly
  cached,    // like fixed, with threads that come with the work and go when it is gone
};

}}  // namespace handoff::HANDOFF_ABI

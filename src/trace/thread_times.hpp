// SPDX-License-Identifier: MIT
//
// What the kernel counts of a thread: how long it had a CPU, and how long it was ready and had
// none.
//
// Concurrency: any thread, of any thread of this process. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>
#include <optional>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

// Since the thread began, in nanoseconds.
struct ThreadTimes {
  std::uint64_t cpu = 0;
  std::uint64_t ready = 0;
};

// The times of the thread with this number of the kernel's. Nothing: it is over, or not known.
// Takes some microseconds: a clock, and a small file. Leaves errno alone.
std::optional<ThreadTimes> times_of(std::int32_t thread) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::trace

// SPDX-License-Identifier: MIT
// The clock of latencies: two threads that read it see the same time.
#pragma once

#include <chrono>
#include <cstdint>

namespace handoff::lab::peers {

inline std::uint64_t clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace handoff::lab::peers

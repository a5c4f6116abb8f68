// SPDX-License-Identifier: MIT
// Latencies of threads that had no CPU: what others took, the scheduler put into them. They are
// marked, so that nobody takes them for the contender's.
#pragma once

#include <string>

#include "harness/bursts.hpp"

namespace handoff::lab {

// Why its latencies are not its own; empty: they are, or it measured none.
[[nodiscard]] std::string preempted(const Measurement& measurement);

}  // namespace handoff::lab

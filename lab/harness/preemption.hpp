// SPDX-License-Identifier: MIT
// What other programs took from a contender's threads, by the scheduler's books.
#pragma once

#include <string>
#include <vector>

#include "harness/bursts.hpp"

namespace handoff::lab {

// Whether a launch's threads had a CPU next to whenever they wanted one: in its bursts they waited
// for less than a hundredth of the time. False where the kernel does not say, or only of some of
// the threads that ran: of those that came and went in a burst nobody knows.
[[nodiscard]] bool kept_their_cpus(const std::vector<Reading>& bursts);

// Latencies of threads that had no CPU are marked, so that nobody takes them for the contender's:
// what others took, the scheduler put into them. Why they are not its own; empty: they are, or it
// measured none.
[[nodiscard]] std::string preempted(const Measurement& measurement);

}  // namespace handoff::lab

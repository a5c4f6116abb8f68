// SPDX-License-Identifier: MIT
// Whether a second CPU is a core or half of one, and how far away: multiply-adds on each and on
// both, and a cache line that travels between them.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

struct TwoCores {
  int first = 0;   // the CPUs' numbers
  int second = 0;
  double one_gflops = 0;   // the faster of the two, alone
  double both_gflops = 0;  // at the same time
  double round_trip_ns = 0;

  // 2: two cores; near 1: two threads of one core, or one core's worth of time.
  [[nodiscard]] double scaling() const { return both_gflops / one_gflops; }
};

// Takes about 0.2 s. Nothing if this process may run on one CPU only.
std::optional<TwoCores> measure_two_cores();

}  // namespace handoff::lab

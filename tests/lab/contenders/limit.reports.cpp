// SPDX-License-Identifier: MIT
// For tests: says everything that a contender can say about a burst. It has its own `prepare`,
// which takes the place of the scenario's.
#include "harness/contender.hpp"

namespace handoff::lab {

Prepared prepare(const Parameters& parameters, std::span<const std::byte>) {
  static double count = 0;
  const auto n = static_cast<double>(parameters.number("n"));
  const auto operation = [n, metric = parameters.text("metric")](Burst& burst) {
    burst.timed([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(9));
    burst.items(8);
    burst.executed(0, 2);
    burst.executed(2, 6);
    burst.figure("told_gflops", metric == "gflops" ? 1 : 0);
    const char* const shift = std::getenv("HANDOFF_STACK_SHIFT");
    burst.figure("stack_shift", static_cast<double>(std::strlen(shift)));
    for (std::uint64_t ns = 1; ns <= 100; ++ns) burst.latencies().record(ns);
    burst.point("squares", 1, 1);
    burst.point("squares", 2, 4);
    count = n * n * n;
  };
  return {operation, std::as_writable_bytes(std::span(&count, 1))};
}

}  // namespace handoff::lab

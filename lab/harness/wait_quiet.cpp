// SPDX-License-Identifier: MIT
// Waits for a quiet moment before something is measured.
#include "harness/watch.hpp"

#include <fmt/format.h>

#include "harness/progress.hpp"

namespace handoff::lab {

double wait_until_quiet(std::chrono::duration<double> most, Interrupt& interrupt,
                        const std::function<Look()>& look_now) {
  constexpr std::chrono::milliseconds window(500);
  constexpr int nothing = -1;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
  Progress progress(end);
  progress.show("waiting until others are quiet");
  for (;;) {
    const Look before = look_now();
    interrupt.wait_readable(nothing, Clock::now() + window);
    const Disturbance seen = disturbance(before, look_now(), {}, {});
    const double others = seen.foreign_cpus + seen.stolen_cpus;
    if (others < kQuietCpus || Clock::now() >= end) return others;
    progress.show(fmt::format("waiting until others are quiet: they take {:.1f} CPUs", others));
  }
}

}  // namespace handoff::lab

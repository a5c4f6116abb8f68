// SPDX-License-Identifier: MIT
//
// Loops that choose who runs them, by a clock that is the case's own.
#include <handoff/choice/adaptive_loop.hpp>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;

}  // namespace

HANDOFF_COUNT_CASE(adaptive_loop) {
  handoff::ThreadTeam team(4);
  handoff::AdaptiveLoop loop{team};
  rounds(
      [&](bool counts) {
        const CountedOfAll counted("AdaptiveLoop.run/16 indices", counts);
        loop.run(16, [](std::size_t i) { keep(i); });
        let_all_sleep();
      },
      64);
}

// SPDX-License-Identifier: MIT
// Which rung of an overview gets the next launch once each has its least: the one whose range is
// the widest, wherever it lies. A rung that more launches hardly help is kept from taking all the
// time.
#include "harness/rungs.hpp"

namespace handoff::lab {

std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs, double seconds_left,
                                     double share) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const RungState& rung = rungs[i];
    if (rung.seconds > seconds_left || rung.spent + rung.seconds > share) continue;
    if (!next || rung.range > rungs[*next].range) next = i;
  }
  return next;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "harness/rung_order.hpp"

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

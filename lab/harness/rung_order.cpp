// SPDX-License-Identifier: MIT
#include "harness/rung_order.hpp"

#include <cmath>
#include <limits>

namespace handoff::lab {

double expected_range(const RungState& rung) {
  if (rung.launches == 0) return std::numeric_limits<double>::infinity();
  return rung.spread / std::sqrt(static_cast<double>(rung.launches));
}

std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs, double seconds_left,
                                     double share) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const RungState& rung = rungs[i];
    if (rung.seconds > seconds_left || rung.spent + rung.seconds > share) continue;
    if (!next || expected_range(rung) > expected_range(rungs[*next])) next = i;
  }
  return next;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "harness/rung_order.hpp"

#include <algorithm>
#include <utility>

#include "harness/verdict.hpp"

namespace handoff::lab {
namespace {

bool needs_more(const RungState& rung, std::optional<std::size_t> fixed) {
  if (fixed) return rung.reported < *fixed;
  if (rung.reported < kOverviewLooks.front()) return true;
  return rung.has_verdict && !rung.decided && rung.looks < kOverviewLooks.size();
}

// The least comes first.
std::pair<bool, std::size_t> rank(const RungState& rung) { return {rung.unlikely, rung.reported}; }

}  // namespace

bool has_time_for_another(double spent, std::size_t launches, double share) {
  const auto tried = static_cast<double>(std::max<std::size_t>(launches, 1));
  return spent + spent / tried <= share;
}

bool is_look(const RungState& rung) {
  return rung.has_verdict && rung.looks < kOverviewLooks.size() &&
         rung.reported >= kOverviewLooks[rung.looks];
}

std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs, double seconds_left,
                                     std::optional<std::size_t> fixed) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const RungState& rung = rungs[i];
    if (!needs_more(rung, fixed)) continue;
    // A rung's own time does not keep it from the least that a verdict needs.
    const bool least = fixed || rung.reported < kOverviewLooks.front();
    if (rung.seconds > (least ? seconds_left : std::min(seconds_left, rung.seconds_left))) continue;
    if (!next || rank(rung) < rank(rungs[*next])) next = i;
  }
  return next;
}

}  // namespace handoff::lab

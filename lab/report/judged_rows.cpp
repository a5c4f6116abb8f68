// SPDX-License-Identifier: MIT
#include "report/judged_rows.hpp"

#include <algorithm>
#include <cmath>

namespace handoff::lab {
namespace {

bool can_divide(const Launches& launches) {
  return !launches.empty() &&
         std::all_of(launches.begin(), launches.end(), [](const std::vector<double>& bursts) {
           return !bursts.empty() && std::all_of(bursts.begin(), bursts.end(), [](double v) {
             return std::isfinite(v) && v > 0;
           });
         });
}

}  // namespace

std::optional<JudgedChange> judge_rows(const Row& now, const Row& before, double floor) {
  const bool disturbed = now.status == RowStatus::noisy || before.status == RowStatus::noisy;
  return judge_launches(
      now.launches, before.launches,
      {.higher_is_better = now.higher_is_better, .floor = floor, .disturbed = disturbed});
}

std::optional<JudgedChange> judge_launches(const Launches& now, const Launches& before,
                                           const Judging& judging) {
  if (!can_divide(now) || !can_divide(before)) return {};
  return judge_change(now, before, judging);
}

}  // namespace handoff::lab

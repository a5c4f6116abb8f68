// SPDX-License-Identifier: MIT
// Rows judged against each other, by the one judge (harness/verdict.hpp).
#include "report/result.hpp"

#include <algorithm>

#include "report/ladder.hpp"

namespace handoff::lab {

std::optional<JudgedChange> judge_rows(const Row& now, const Row& before, double floor) {
  const bool disturbed = now.status == RowStatus::noisy || before.status == RowStatus::noisy;
  return judge_launches(
      now.launches, before.launches,
      {.higher_is_better = now.higher_is_better, .floor = floor, .disturbed = disturbed});
}

std::optional<JudgedChange> judge_launches(const Launches& now, const Launches& before,
                                           const Judging& judging) {
  const auto is_told = [](const Times& bursts) { return !bursts.empty() && can_divide(bursts); };
  for (const Launches* launches : {&now, &before}) {
    if (launches->empty() || !std::all_of(launches->begin(), launches->end(), is_told)) return {};
  }
  return judge_change(now, before, judging);
}

}  // namespace handoff::lab

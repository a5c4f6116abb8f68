// SPDX-License-Identifier: MIT
// Which rung of an overview gets the next launch: the one with the fewest, of those whose verdict
// is still open. One that more launches would hardly help comes after all others. The verdict is
// looked at after kOverviewLooks launches only (verdict.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace handoff::lab {

// How far a rung is.
struct RungState {
  std::size_t reported = 0;   // launches after those that chose its ways
  std::size_t looks = 0;      // at its verdict
  bool has_verdict = false;   // there are two ways to be judged
  bool decided = false;       // the verdict is faster, slower or about equal
  bool unlikely = false;      // to be decided, as is_verdict_unlikely() (verdict.hpp) says
  double seconds = 0;         // that its next launch will take, about
  double seconds_left = 1e9;  // for this rung alone
};

// Whether its verdict is to be looked at now.
[[nodiscard]] bool is_look(const RungState& rung);

// Whether one more of the launches that choose a rung's ways fits into its share of the time, s, by
// what those so far took (of none, a disturbed one). One that does not would take what others need
// to report at all.
[[nodiscard]] bool has_time_for_another(double spent, std::size_t launches, double share);

// Nothing if all have what they need, or if none of those that need more fits into the time left.
// `fixed`: every rung gets so many launches, whatever its verdict.
[[nodiscard]] std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs,
                                                   double seconds_left,
                                                   std::optional<std::size_t> fixed = {});

}  // namespace handoff::lab

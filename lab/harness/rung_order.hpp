// SPDX-License-Identifier: MIT
// Which rung of an overview gets the next launches once each has its least: the one of which the
// least is known, whatever is known of it. A rung that more launches hardly help is kept from
// taking all the time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace handoff::lab {

// How far a rung is.
struct RungState {
  std::size_t launches = 0;  // of each of its ways
  double spread = 0;         // of what it is to tell: of the logarithms of quotients
  double seconds = 0;  // that its next launches will take, about
  double spent = 0;    // seconds, so far
};

// About how wide its range is: as a logarithm, by the launches that there are.
[[nodiscard]] double expected_range(const RungState& rung);

// Nothing: none of them fits into the time left. `share`: no rung takes more seconds than that.
[[nodiscard]] std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs,
                                                   double seconds_left, double share);

}  // namespace handoff::lab

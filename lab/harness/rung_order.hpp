// SPDX-License-Identifier: MIT
// Which rung of an overview gets the next launch once each has its least: the one whose range is
// the widest, wherever it lies. A rung that more launches hardly help is kept from taking all the
// time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace handoff::lab {

// How far a rung is.
struct RungState {
  std::size_t launches = 0;  // of each of its ways
  double range = 0;    // how wide it is by now, as a logarithm; infinity: nothing is known
  double seconds = 0;  // that its next launch will take, about
  double spent = 0;    // seconds, so far
};

// Nothing: none of them fits into the time left. `share`: no rung takes more seconds than that.
[[nodiscard]] std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs,
                                                   double seconds_left, double share);

}  // namespace handoff::lab

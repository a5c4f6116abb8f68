// SPDX-License-Identifier: MIT
// The launches of a replay: all ways take turns in each, until every makespan is known well enough
// or the time is over. One that others disturbed is thrown away and repeated.
#pragma once

#include <chrono>
#include <optional>

#include "commands/session.hpp"

namespace handoff::lab {

struct ReplayPlan {
  std::optional<std::size_t> launches;  // so many; nothing: see above
  std::chrono::duration<double> time{};  // after it only the least number of launches goes on
  std::uint64_t seed = 0;
};

// Adds the block to the session. Throws Interrupted, and then what was measured is there.
void measure_replays(Session& session, Scenario& scenario, const Session::Block& block,
                     const ReplayPlan& plan);

}  // namespace handoff::lab

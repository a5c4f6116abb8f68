// SPDX-License-Identifier: MIT
// The launches of a replay: all ways take turns in each, until every makespan is known well enough
// or the time is over. A launch that other programs disturbed is thrown away and repeated. The
// command shows how far it is, on a terminal or not.
#pragma once

#include <chrono>
#include <optional>

#include "commands/session.hpp"

namespace handoff::lab {

struct ReplayPlan {
  std::optional<std::size_t> launches;  // so many; nothing: see above
  std::chrono::duration<double> time{};  // for all of it, but for one launch, which there always is
  bool ends_in_time = true;  // else when the launches were made, however long they take
  std::uint64_t seed = 0;
};

// Adds the block to the session. Throws Interrupted, and then what was measured is there.
void measure_replays(Session& session, Scenario& scenario, const Session::Block& block,
                     const ReplayPlan& plan);

}  // namespace handoff::lab

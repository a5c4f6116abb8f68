// SPDX-License-Identifier: MIT
// This library's team, used as nobody should: made for one run. start(), since run() leaves one
// index to the caller, which would do it before the new thread is there.
#include <optional>
#include <stdexcept>

#include <handoff/core/bulk.hpp>
#include <handoff/team/thread_team.hpp>

#include "scenarios/spawn/contender.hpp"

handoff::lab::spawn::Operation handoff::lab::spawn::contender() {
  return [](Word& word) {
    std::optional<ThreadTeam> team(std::in_place, std::size_t{2});
    BulkOperation run(
        *team, 1, [&word](std::size_t, std::size_t) { word.store(); },
        [](const Tally&) noexcept {});
    if (run.start() != Status::ok) throw std::runtime_error("refused");
    team.reset();  // waits for the run, which lives longer than the team
  };
}

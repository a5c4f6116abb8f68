// SPDX-License-Identifier: MIT
// This library's team: the caller is one of its members.
#include <memory>

#include <handoff/team/thread_team.hpp>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  auto team = std::make_shared<ThreadTeam>(ThreadTeamOptions{.width = task.width});
  return [&task, team] {
    static_cast<void>(team->run(task.items,
                                [](IndexRange range) { run_items(range.first, range.last); },
                                {.block = task.block}));
  };
}

}  // namespace handoff::lab::trial

// SPDX-License-Identifier: MIT
// This library's team: the caller is one of its members.
#include <memory>

#include <handoff/team/thread_team.hpp>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
  auto team = std::make_shared<ThreadTeam>(ThreadTeamOptions{.width = task.width});
  const std::size_t block = task.kernel == Kernel::tile ? task.tile_rows() : 0;  // 0: its choice
  return [&task, block, team, rows = task.rows()] {
    static_cast<void>(team->run(
        task.m, [&rows](IndexRange range) { rows(range.first, range.last); }, {.block = block}));
  };
}

}  // namespace handoff::lab::matmul

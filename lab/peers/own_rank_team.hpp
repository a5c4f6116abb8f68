// SPDX-License-Identifier: MIT
// This library's team of ranks, of a thread each.
#pragma once

#include <handoff/mpi/rank_team.hpp>

#include "peers/rank_crew.hpp"

namespace handoff::lab::peers {

class TeamRank {
 public:
  void run(const LoopOrder& order) {
    static_cast<void>(
        team_.run(order.count, [&order](IndexRange range) { order.run(range.first, range.last); }));
  }

 private:
  RankTeam team_{{.threads = 1}};
};
using OwnRankTeam = RankLoops<TeamRank>;

}  // namespace handoff::lab::peers

// SPDX-License-Identifier: MIT
// This library's team of ranks, of one thread each: large blocks first, small ones last.
#include "peers/own_rank_team.hpp"
#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {

Prepared contender(const Parameters& parameters) {
  return measure_claims<peers::RankCrew<peers::TeamRank<Rows>, Rows>>(parameters);
}

}  // namespace handoff::lab::spawn

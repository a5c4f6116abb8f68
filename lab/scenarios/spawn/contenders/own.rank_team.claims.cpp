// SPDX-License-Identifier: MIT
// This library's team of ranks, of one thread each: large blocks first, small ones last.
#include <handoff/mpi/rank_team.hpp>

#include "peers/rank_crew.hpp"
#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {
namespace {

class Rank {
 public:
  void run(const Rows& rows) {
    static_cast<void>(
        team_.run(rows.count, [&](IndexRange range) { rows.do_block(range.first, range.last); }));
  }

 private:
  RankTeam team_{{.threads = 1}};
};

}  // namespace

Prepared contender(const Parameters& parameters) {
  return measure_claims<peers::RankCrew<Rank, Rows>>(parameters);
}

}  // namespace handoff::lab::spawn

// SPDX-License-Identifier: MIT
//
// Teams of threads: one range at a time.
#include <handoff/core/bulk.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/team/thread_team.hpp>
#include <string>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using handoff::IndexRange;
using handoff::ThreadTeam;

}  // namespace

// A block gives its turn away: else the caller would have run them all before a member woke.
HANDOFF_COUNT_CASE(team_run) {
  for (const std::size_t width : {1U, 2U, 4U}) {
    ThreadTeam team(width);
    const std::string of = "/64 blocks, width " + std::to_string(width) + ", ";
    hot_and_asleep("ThreadTeam.run" + of,
                   [&] { team.run(64, [](IndexRange) { give_turn(); }, {.block = 1}); });
  }
}

HANDOFF_COUNT_CASE(team_claim) {
  ThreadTeam team(1);
  note_rounds("ThreadTeam.run/1024 indices, the caller alone",
              [&] { team.run(1024, [](IndexRange range) { keep(range); }, {.block = 1}); });
  note_rounds("parallel_for.loop/1024 indices, team of one",
              [&] { handoff::parallel_for(team, 0, 1024, [](int i) { keep(i); }); });
}

HANDOFF_COUNT_CASE(team_start) {
  ThreadTeam team(4);
  handoff::BulkOperation operation(
      team, 64, [](std::size_t, std::size_t) { give_turn(); },
      [](const handoff::Tally&) noexcept {}, {.block = 1});
  rounds([&](bool counts) {
    let_all_sleep();
    const CountedOfAll counted("ThreadTeam.start a run/64 blocks, width 4, asleep", counts);
    (void)operation.start();
    let_all_sleep();
  });
}

HANDOFF_COUNT_CASE(team_life) {
  rounds([](bool counts) {
    const CountedOfAll counted("ThreadTeam.start + stop/width 4", counts);
    ThreadTeam team(4);
    let_all_sleep();
  });
  ThreadTeam team(4);
  team.run(64, [](IndexRange) { give_turn(); }, {.block = 1});
  let_all_sleep();
  const CountedOfAll counted("ThreadTeam.idle/ten seconds");
  sleep_for(10'000'000'000);
}

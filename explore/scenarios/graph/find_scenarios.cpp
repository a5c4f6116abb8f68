// SPDX-License-Identifier: MIT
//
// The early stop of find_if (graph/find.hpp, FI-1 and FI-2): no block before the first match is
// skipped, in whatever order threads find matches; blocks behind a known match are skipped.
#include <array>
#include <cstddef>
#include <handoff/core/index_range.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/graph/find.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/team/thread_team.hpp>

#include "explore/scenario.hpp"

namespace find_scenarios { namespace {

using namespace handoff;
using test::LargeScenario;
using test::Scenario;

// Two members, as a loop calls them: each is told how many of the next blocks to look at, twice.
// `matches`: which of the items match; a block is `block` of them.
template <std::size_t count>
void find(std::size_t block, const std::array<bool, count>& matches) {
  std::array<sync::cell<int>, count> looks{};
  detail::FirstMatch match(0, count, block);
  const auto look = [&](IndexRange items) {
    for (const std::size_t i : items) {
      looks[i].write() += 1;  // a second look would be a race, or is counted below
      if (matches[i]) return i;
    }
    return items.last;
  };
  const std::size_t blocks = match.blocks();
  const auto member = [&](std::size_t mine) {
    if (mine > 1) match.look_at_next(mine - 1, look);
    match.look_at_next(1, look);
  };
  explore::Thread second([&] { member(blocks / 2); });
  member(blocks - blocks / 2);
  second.join();
  std::size_t first = 0;
  while (first < count && !matches[first]) ++first;
  Tally tally;
  tally.done = blocks;
  explore::check(match.result(tally) == first, "the first match");
  std::size_t behind = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int times = looks[i].read();
    explore::check(times <= 1, "no item twice");
    if (i <= first) explore::check(times == 1, "each item before the match");
    if (i > first && times != 0) ++behind;
  }
  explore::outcome(behind);
}

const Scenario at_front("find_if/first_of_all", [] { find<3>(1, {true, false, true}); });
const Scenario in_midst("find_if/two_matches", [] { find<4>(1, {false, true, true, false}); });
const Scenario none("find_if/none", [] { find<4>(1, {false, false, false, false}); });
const Scenario in_blocks("find_if/blocks", [] { find<5>(2, {false, false, false, true, true}); });

// The same on a team.
const LargeScenario on_team("find_if/team", [] {
  ThreadTeam team(2);
  const std::array<int, 4> numbers{0, 1, 1, 0};
  const auto found = find_if(team, numbers, [](int number) { return number == 1; });
  explore::check(found == numbers.begin() + 1, "the first match");
});

}}  // namespace find_scenarios

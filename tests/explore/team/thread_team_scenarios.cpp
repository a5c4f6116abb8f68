// SPDX-License-Identifier: MIT
//
// ThreadTeam and its claims: the scenarios of docs/design/thread_team.md.
#include <array>
#include <handoff/core/block_claims.hpp>
#include <handoff/sync/cell.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/team/thread_team.hpp>

#include "explore/scenario.hpp"

namespace {

using namespace handoff;
using test::Scenario;

// Plain counters, one an index: two members on one index would race, a lost index stays at 0.
template <std::size_t count>
struct Times {
  std::array<sync::cell<int>, count> of{};

  void add(IndexRange range) {
    for (const std::size_t i : range) of[i].write() += 1;
  }
  std::size_t done() const {
    std::size_t sum = 0;
    for (const auto& times : of) {
      explore::check(times.read() <= 1, "no index twice");
      sum += static_cast<std::size_t>(times.read());
    }
    return sum;
  }
};

const Scenario claims("thread_team/claims", [] {
  BlockClaims blocks;
  Times<3> times;
  blocks.open(3, 2, 1);
  const auto work = [&] {
    for (IndexRange block = blocks.claim(); !block.empty(); block = blocks.claim()) {
      times.add(block);
    }
  };
  explore::Thread second(work);
  explore::Thread third(work);
  const std::size_t closed = blocks.close();
  second.join();
  third.join();
  explore::check(times.done() + closed == 3, "each index once, or taken by close()");
  explore::outcome(closed);
});

const Scenario late_member("thread_team/late_member", [] {
  ThreadTeam team({.width = 2});
  Times<2> times;
  const Tally tally = team.run(2, [&](IndexRange range) { times.add(range); });
  explore::check(times.done() == 2 && tally.done == 2, "each index once");
});

const Scenario next_run("thread_team/next_run", [] {
  ThreadTeam team({.width = 2});
  for (int run = 0; run < 2; ++run) {
    Times<2> times;  // gone after its run: a member that came late would write into its place
    (void)team.run(2, [&](IndexRange range) { times.add(range); });
    explore::check(times.done() == 2, "each index once in each run");
  }
});

const Scenario stop("thread_team/stop", [] {
  ThreadTeam team({.width = 2});
  sync::StopSource source;
  Times<3> times;
  explore::Thread stopper([&] { source.request_stop(); });
  const Tally tally =
      team.run(3, [&](IndexRange range) { times.add(range); }, {.stop = source.token()});
  explore::check(tally.balanced() && tally.done == times.done(), "the tally is exact");
  explore::outcome(tally.cancelled);
});

// The model has two CPUs: the third member is the watcher, and no block ends before it came.
const Scenario stands_still("thread_team/stands_still", [] {
  ThreadTeam team({.width = 3});
  sync::atomic<int> missing{3};
  sync::EventCount met;
  const Tally tally = team.run(3, [&](IndexRange) {
    // order: relaxed, here and below: a count and nothing else.
    if (missing.fetch_sub(1, sync::order::relaxed) == 1) return met.notify_all();
    (void)met.await([&] { return missing.load(sync::order::relaxed) == 0; });  // order: relaxed
  });
  explore::check(tally.done == 3, "all three met");
});

const Scenario quit("thread_team/quit", [] {
  const ThreadTeam team({.width = 3});
});

}  // namespace

// SPDX-License-Identifier: MIT
//
// ThreadTeam and its claims: the scenarios of docs/design/thread_team.md.
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>
#include <handoff/team/thread_team.hpp>

#include "explore/freed_run.hpp"
#include "explore/scenario.hpp"

namespace thread_team_scenarios { namespace {

using namespace handoff;
using namespace test;

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
  detail::BlockClaims blocks;
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
      team.run(3, [&](IndexRange range) { times.add(range); }, {.until = source.token()});
  explore::check(tally.balanced() && tally.done == times.done(), "the tally is exact");
  explore::outcome(tally.cancelled);
});

// The model has two CPUs: the third member is the watcher, and no block ends before it came.
const Scenario stands_still("thread_team/stands_still", [] {
  ThreadTeam team({.width = 3});
  test::Meeting meeting(3);
  const Tally tally = team.run(3, [&meeting](IndexRange) { meeting.come(); });
  explore::check(tally.done == 3, "all three met");
});

const Scenario quit("thread_team/quit", [] { const ThreadTeam team({.width = 3}); });

// ---- What is told of a run ----------------------------------------------------------------------

struct Failure {
  std::size_t first = 0;
};

// Of blocks that throw all the others run; the first that threw is rethrown, and the next run knows
// nothing of it.
const SingleScenario throws("thread_team/throws", [] {
  ThreadTeam team({.width = 2});
  Times<4> times;
  std::size_t thrown = 9;
  try {
    (void)team.run(4, [&](IndexRange range) {
      times.add(range);
      if (range.first == 0) throw Failure{range.first};
    });
  } catch (const Failure& failure) {
    thrown = failure.first;
  }
  explore::check(thrown == 0 && times.done() == 4, "rethrown when all were done");
  const Tally told = team.tally();
  explore::check(told.accepted == 4 && told.balanced(), "all indices");
  explore::check(told.failed >= 1 && told.done == 4 - told.failed, "by blocks");
  explore::check(told.first_failure != nullptr, "kept until it was thrown");
  Times<2> again;
  const Tally tally = team.run(2, [&](IndexRange range) { again.add(range); });
  explore::check(tally.done == 2 && tally.failed == 0 && !tally.first_failure, "anew");
});

// A run that is late or stopped from the start does nothing; any other runs all.
const SingleScenario gives_up("thread_team/gives_up", [] {
  ThreadTeam team({.width = 2});
  const auto nothing = [](IndexRange) { explore::check(false, "it is too late"); };
  Tally tally = team.run(3, nothing, {.until = sync::clock::now()});
  explore::check(tally.expired == 3 && tally.balanced() && tally.pending == 0, "all of it");
  sync::StopSource source;
  Times<3> times;
  const sync::StopToken token = source.token();
  const RunOptions in_time{.until = {std::chrono::hours(1), token}};
  tally = team.run(3, [&](IndexRange range) { times.add(range); }, in_time);
  explore::check(tally.done == 3 && times.done() == 3, "all of it");
  (void)source.request_stop();
  tally = team.run(3, nothing, {.until = source.token()});
  explore::check(tally.cancelled == 3 && tally.balanced() && tally.pending == 0, "all of it");
  tally = team.run(0, nothing);
  explore::check(tally.accepted == 0 && tally.balanced(), "there was none");
});

// From inside its own blocks a team is not run, however deep; another one is.
const SingleScenario nests("thread_team/nests", [] {
  ThreadTeam outer({.width = 2});
  ThreadTeam inner({.width = 2});
  sync::atomic<int> refused{0};
  const auto run_outer = [&] {
    try {
      (void)outer.run(1, [](IndexRange) {});
    } catch (const std::logic_error&) {
      refused.fetch_add(1, sync::order::relaxed);
    }
  };
  sync::Mutex one_at_a_time;
  Times<2> times;
  const Tally tally = outer.run(2,
                                [&](IndexRange range) {
                                  run_outer();
                                  const sync::Lock lock(one_at_a_time);
                                  (void)inner.run(1, [&](IndexRange) { run_outer(); });
                                  times.add(range);
                                },
                                {.block = 1});
  explore::check(tally.done == 2 && times.done() == 2, "each index once");
  explore::check(refused.load(sync::order::relaxed) == 4, "each time");
  (void)inner.run(1, [&](IndexRange) { (void)outer.run(1, [](IndexRange) {}); });
  explore::check(outer.tally().done == 1, "the other way round, when nobody is inside");
});

// Two callers, one after the other, each with its own figures.
const SingleScenario two_callers("thread_team/two_callers", [] {
  ThreadTeam team({.width = 2});
  const auto run = [&team](std::size_t count) {
    Times<3> times;
    const Tally tally = team.run(count, [&](IndexRange range) { times.add(range); });
    explore::check(tally.accepted == count && tally.done == count, "its own");
    explore::check(times.done() == count, "each index once");
  };
  explore::Thread other([&run] { run(3); });
  run(2);
});

// Threads that the system refuses make the team narrower, and nothing else.
const SizedScenario<Size::single, 1> refused_threads("thread_team/refused_threads", [] {
  ThreadTeam team({.width = 3});
  explore::check(team.width() >= 1 && team.width() <= 3, "what there is");
  Times<3> times;
  const Tally tally = team.run(3, [&](IndexRange range) { times.add(range); });
  explore::check(tally.done == 3 && times.done() == 3, "each index once");
  explore::outcome(team.width());
});

// No memory: nothing is left behind.
const SizedScenario<Size::single, 1> no_memory("thread_team/no_memory", [] {
  try {
    const explore::MayFail may_fail;
    const ThreadTeam team({.width = 3});
  } catch (const std::bad_alloc&) {
    explore::outcome(1);
  }
});

// Two CPUs, four members: the watcher calls all of the others when the run stands still.
const SingleScenario all_come("thread_team/all_come", [] {
  ThreadTeam team({.width = 4});
  test::Meeting meeting(4);
  const Tally tally = team.run(4, [&meeting](IndexRange) { meeting.come(); }, {.block = 1});
  explore::check(tally.done == 4, "all met");
});

// A member that has a CPU comes at once: time stands still while anybody can go on.
const SingleScenario at_once("thread_team/at_once", [] {
  ThreadTeam team({.width = 2});
  const sync::Deadline begin = sync::clock::now();
  test::Meeting meeting(2);
  const Tally tally = team.run(2, [&meeting](IndexRange) { meeting.come(); }, {.block = 1});
  explore::check(tally.done == 2 && sync::clock::now() == begin, "nobody napped");
});

// Only as many members take part as there are indices: one index, one member.
const SingleScenario alone("thread_team/alone", [] {
  ThreadTeam team({.width = 1});
  explore::check(team.width() == 1, "the caller");
  std::size_t next = 0;
  const Tally tally = team.run(3, [&](IndexRange range) {
    explore::check(range.first == next, "one after the other");
    next = range.last;
  });
  explore::check(tally.done == 3 && next == 3, "all of it");
});

}}  // namespace thread_team_scenarios

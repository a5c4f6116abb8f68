// SPDX-License-Identifier: MIT
//
// Adaptive loops on real threads. Time is work that is counted: bodies advance the clock.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <handoff/choice/adaptive_loop.hpp>
#include <handoff/choice/detail/loop_memory.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/sync/stop_token.hpp>
#include <handoff/team/detail/inside_team.hpp>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/failing.hpp"
#include "support/loop_forms.hpp"

namespace {

using namespace handoff;
using detail::index_of;
using detail::LoopMemory;

std::vector<unsigned char> ones(std::size_t count) { return std::vector<unsigned char>(count, 1); }

// The work of an index: ten milliseconds by the clock, which only the caller's thread adds, so that
// a serial loop seems long and one that others share short.
struct SeemsLong {
  std::thread::id caller = std::this_thread::get_id();
  void operator()() const {
    if (std::this_thread::get_id() == caller) test::advance_clock(10'000'000);
  }
};

TEST(AdaptiveLoop, TakesEveryFormOfALoop) {
  ThreadTeam team(3);
  ThreadPool pool(2);
  AdaptiveLoop both(team, pool);
  AdaptiveLoop on_team(team);
  AdaptiveLoop on_pool(pool);
  for (int round = 0; round < 3; ++round) {
    test::expect_all_loop_forms(both);
    test::expect_all_loop_forms(on_team);
    test::expect_all_loop_forms(on_pool);
  }
}

TEST(AdaptiveLoop, AdaptiveForTakesThemToo) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  AdaptiveLoop loop(team, pool);
  const auto all_forms = [](auto& ways) {
    std::vector<unsigned char> times(100);
    const auto count = [&](std::size_t i) { ++times[i]; };
    const auto one = [](unsigned char& each) { ++each; };
    EXPECT_EQ(adaptive_for(ways, 100, count).done, 100U);
    EXPECT_EQ(adaptive_for(ways, 0, times.size(), count).done, 100U);
    EXPECT_EQ(adaptive_for(ways, times, one, {.block = 7}).done, 100U);
    EXPECT_EQ(adaptive_for(ways, times.begin(), times.end(), one).done, 100U);
    EXPECT_EQ(adaptive_for(ways, -5, count).done, 0U);
    adaptive_for(ways, 100U, [&](IndexRange part) {
      for (const std::size_t i : part) --times[i];
    });
    EXPECT_EQ(std::accumulate(times.begin(), times.end(), 0), 300);
  };
  all_forms(loop);
  all_forms(team);
  all_forms(pool);
}

// A loop that is run once hands the rest over, to the team and to the pool.
TEST(AdaptiveLoop, WhatTurnsOutLongIsHandedOver) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  const auto expect_others = [](auto& ways) {
    std::vector<unsigned char> times(64);
    const SeemsLong work;
    std::atomic<bool> others{false};
    adaptive_for(ways, times.size(), [&](std::size_t i) {
      ++times[i];
      work();
      if (std::this_thread::get_id() != work.caller) others = true;
      // Leaves the others time to come.
      while (i == 40 && !others) std::this_thread::yield();
    });
    EXPECT_EQ(times, ones(64));
    EXPECT_TRUE(others);
  };
  expect_others(team);
  expect_others(pool);
}

// Each way in its turn, as time tells; every index exactly once in all of them.
TEST(AdaptiveLoop, EachIndexOnceWhateverIsChosen) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  AdaptiveLoop loop(team, pool);
  std::vector<unsigned char> times(64);
  const SeemsLong work;
  std::array<int, loop_way_count> taken{};
  bool all = false;  // a load that seems to drift, beside other programs, is measured anew
  for (int run = 0; run < 60 || (!all && run < 6000); ++run) {
    times.assign(64, 0);
    ++taken.at(index_of(loop.choice(64).way));
    const Tally tally = loop.run(64, [&](std::size_t i) {
      ++times[i];
      work();
    });
    ASSERT_EQ(times, ones(64));
    ASSERT_TRUE(tally.balanced() && tally.done == 64);
    const LoopChoice now = loop.choice(64);
    all = all || (now.serial.measured && now.team.measured && now.pool.measured);
  }
  EXPECT_TRUE(all);
  EXPECT_GT(taken[0], 0);
  EXPECT_GT(taken[1], 0);
  EXPECT_GT(taken[2], 0);
  EXPECT_EQ(loop.choice().count, 64U);
  EXPECT_EQ(loop.choice(1).reason, ChoiceReason::not_run);  // other sizes apart
}

TEST(AdaptiveLoop, ShortLoopsLookSeldomAtTheClock) {
  ThreadTeam team(1);  // never taken, so it does not look at the clock either
  AdaptiveLoop loop(team);
  std::size_t runs = 0;
  while (loop.choice(10).serial.ns == 0) loop.run(10, [&](std::size_t) { ++runs; });
  const std::size_t before = test::uses_of_clock();
  for (int i = 0; i < 6400; ++i) loop.run(10, [&](std::size_t) { ++runs; });
  EXPECT_LT(test::uses_of_clock() - before, 6400U);  // 200, if no machine were ever slow
  EXPECT_EQ(loop.choice().reason, ChoiceReason::only_way);
}

TEST(AdaptiveLoop, ALoopWithNothingElseToTakeIsSerial) {
  ThreadTeam one(1);
  AdaptiveLoop loop(one);
  const SeemsLong work;
  for (int i = 0; i < 10; ++i) {
    loop.run(100, [&](std::size_t) {
      EXPECT_EQ(std::this_thread::get_id(), work.caller);
      work();
    });
  }
  EXPECT_EQ(loop.choice().way, LoopWay::serial);
}

TEST(AdaptiveLoop, TheFirstFailureIsRethrownAndNotRemembered) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  AdaptiveLoop loop(team, pool);
  const SeemsLong work;
  for (int run = 0; run < 60; ++run) {
    const LoopChoice before = loop.choice(100);
    EXPECT_THROW(loop.run(100,
                          [&](std::size_t i) {
                            work();
                            if (i == 50) throw std::runtime_error("planned");
                          }),
                 std::runtime_error);
    EXPECT_EQ(loop.choice(100).measured_ns, before.measured_ns);
    loop.run(100, [&](std::size_t) { work(); });
  }
}

TEST(AdaptiveLoop, AStopLeavesOutTheRest) {
  ThreadTeam team(1);
  ThreadTeam wide(2);
  AdaptiveLoop alone(team);
  AdaptiveLoop shared(wide);
  for (AdaptiveLoop* loop : {&alone, &shared}) {
    for (int run = 0; run < 10; ++run) {
      sync::StopSource source;
      const sync::StopToken token = source.token();
      std::atomic<std::size_t> ran{0};
      const Tally tally = loop->run(100'000,
                                    [&](std::size_t i) {
                                      if (i == 0) source.request_stop();
                                      test::advance_clock(100);
                                      ++ran;
                                    },
                                    {.until = token});
      EXPECT_TRUE(tally.balanced());
      EXPECT_EQ(tally.done, ran);
      EXPECT_GT(tally.cancelled, 0U);
      EXPECT_EQ(loop->choice(100'000).measured_ns, 0);
    }
    // And a deadline; first one that has passed.
    EXPECT_EQ(
        loop->run(100, [](std::size_t) { FAIL(); }, {.until = std::chrono::seconds(0)}).expired,
        100U);
    const Tally late = loop->run(100, [](std::size_t) { test::advance_clock(2'000'000'000); },
                                 {.until = std::chrono::seconds(10)});
    EXPECT_TRUE(late.balanced());
    EXPECT_GT(late.expired, 0U);
    EXPECT_EQ(loop->run(100, [](std::size_t) {}, {.until = std::chrono::hours(1)}).done, 100U);
  }
}

// In tasks, in blocks, in both, in itself: no turn of a team is waited for there.
TEST(AdaptiveLoop, NestedAnywhere) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  AdaptiveLoop outer(team, pool);
  AdaptiveLoop inner(team, pool);
  std::atomic<std::size_t> ran{0};
  const auto run_inner = [&] {
    inner.run(16, [&](std::size_t) {
      test::advance_clock(100'000);
      ++ran;
    });
  };
  for (int round = 0; round < 20; ++round) {
    outer.run(8, [&](std::size_t) { run_inner(); });
    parallel_for(team, 0, 8, [&](int) {
      EXPECT_TRUE(detail::is_inside_a_team());
      run_inner();
    });
    parallel_for(pool, 0, 8, [&](int) { run_inner(); });
    pool.submit([&] { outer.run(8, [&](std::size_t) { run_inner(); }); }).get();
  }
  EXPECT_FALSE(detail::is_inside_a_team());
  EXPECT_EQ(ran, 20U * 4 * 8 * 16);
}

TEST(AdaptiveLoop, ATeamIsNotTakenInATask) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  AdaptiveLoop loop(team);
  pool.submit([&] {
        const std::thread::id caller = std::this_thread::get_id();
        for (int run = 0; run < 20; ++run) {
          loop.run(16, [&](std::size_t) {
            test::advance_clock(10'000'000);
            EXPECT_EQ(std::this_thread::get_id(), caller);
          });
        }
      })
      .get();
}

// One loop, run by several threads at once.
TEST(AdaptiveLoop, ManyCallers) {
  ThreadTeam team(2);
  ThreadPool pool(2);
  AdaptiveLoop loop(team, pool);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      for (int run = 0; run < 200; ++run) {
        const std::size_t count = run % 3 == 0 ? 5 : 200;
        std::vector<unsigned char> times(count);
        loop.run(count, [&](std::size_t i) {
          ++times[i];
          if (run % 2 == 0) test::advance_clock(caller * 1000);
        });
        EXPECT_EQ(times, ones(count));
        (void)loop.choice();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(LoopMemory, SlotsAreForSizes) {
  EXPECT_EQ(LoopMemory::slot_of(4, false), LoopMemory::slot_of(7, false));
  EXPECT_NE(LoopMemory::slot_of(7, false), LoopMemory::slot_of(8, false));
  EXPECT_NE(LoopMemory::slot_of(7, false), LoopMemory::slot_of(7, true));
  EXPECT_EQ(LoopMemory::slot_of(SIZE_MAX, true), LoopMemory::slot_count - 1);
  EXPECT_EQ(LoopMemory::slot_of(SIZE_MAX, false), LoopMemory::size_count - 1);
}

// The first ones are measured, then fewer and fewer; one stands for those before it.
TEST(LoopMemory, CountsDownToTheNextLook) {
  LoopMemory memory;
  const detail::WaySpeeds speeds{1, 0, 0};
  EXPECT_FALSE(memory.is_quick(3, false));
  EXPECT_TRUE(memory.step(3).in_pieces);
  EXPECT_EQ(memory.step(3).calls, 1U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(memory.is_quick(3, true));
    ASSERT_TRUE(memory.note(3, speeds, {.count = 4, .ns = 100, .spent_ns = 100}));
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(memory.is_quick(3, i % 2 == 0));
  EXPECT_FALSE(memory.is_quick(3, false));
  EXPECT_EQ(memory.step(3).calls, 5U);
  EXPECT_EQ(memory.last_slot(), 3U);
  detail::SerialPlan plan;
  ASSERT_TRUE(memory.read_plan(3, speeds, plan));
  EXPECT_NEAR(plan.index_ns, 25, 0.1);
  EXPECT_FALSE(memory.is_quick(4, false));
}

// What is handed over is not measured each time either, but it is not serial.
TEST(LoopMemory, QuickLoopsKeepTheirWay) {
  LoopMemory memory;
  const detail::WaySpeeds speeds{1, 2, 0};
  const auto note = [&](double ns) {
    const LoopWay way = memory.step(9).way;
    ASSERT_TRUE(memory.note(9, speeds, {.way = way, .count = 400, .ns = ns, .spent_ns = ns}));
  };
  for (int i = 0; i < 2; ++i) note(60'000);
  for (int i = 0; i < 22; ++i) {
    ASSERT_EQ(memory.step(9).way, LoopWay::team);
    note(20'000);
  }
  EXPECT_FALSE(memory.is_quick(9, true));
  EXPECT_TRUE(memory.is_quick(9, false));
  EXPECT_EQ(memory.step(9).way, LoopWay::team);
}

}  // namespace

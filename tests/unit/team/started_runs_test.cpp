// SPDX-License-Identifier: MIT
//
// Runs of a ThreadTeam that are started and not waited for: core/bulk.hpp, and what the head
// comment of ThreadTeam adds.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <handoff/core/bulk.hpp>
#include <handoff/team/thread_team.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/support.hpp"

namespace {

using namespace handoff;

// A completion that somebody waits for. It holds the state, so that it may outlive the waiter.
class Ended {
 public:
  Tally get() const {
    state_->over.wait(0);
    return state_->tally;
  }
  int times() const { return state_->over; }
  std::thread::id thread() const { return state_->thread; }
  void operator()(const Tally& tally) const noexcept {
    const std::shared_ptr<State> state = state_;  // the run, and this in it, may be gone below
    state->tally = tally;
    state->thread = std::this_thread::get_id();
    ++state->over;
    state->over.notify_all();
  }

 private:
  struct State {
    Tally tally;
    std::thread::id thread;
    std::atomic<int> over{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

constexpr auto kNothing = [](std::size_t, std::size_t) {};

// The starter goes on, or this hangs; and no block runs on its thread.
TEST(StartedRun, ReturnsAtOnceAndMembersDoAllTheWork) {
  ThreadTeam team({.width = 3});
  std::atomic<bool> open{false};
  std::atomic<int> here{0};
  const Ended ended;
  BulkOperation run(
      team, 4,
      [&, starter = std::this_thread::get_id()](std::size_t, std::size_t) {
        here += std::this_thread::get_id() == starter;
        while (!open) std::this_thread::yield();
      },
      ended);
  ASSERT_EQ(run.start(), Status::ok);
  open = true;
  EXPECT_EQ(ended.get().done, 4U);
  EXPECT_EQ(here, 0);
  EXPECT_NE(ended.thread(), std::this_thread::get_id());
}

// All must be inside at once, or this hangs.
TEST(StartedRun, AllThreadsTakePartEvenBeyondTheCpus) {
  for (const std::size_t width : {2U, 3U, 4U, 9U}) {
    ThreadTeam team({.width = width});
    for (int round = 0; round < 10; ++round) {
      std::atomic<std::size_t> inside{0};
      const Ended ended;
      BulkOperation run(team, width - 1,
                        [&](std::size_t, std::size_t) {
                          ++inside;
                          while (inside < width - 1) std::this_thread::yield();
                        },
                        ended, {.block = 1});
      ASSERT_EQ(run.start(), Status::ok);
      EXPECT_EQ(ended.get().done, width - 1);
    }
  }
}

TEST(StartedRun, ATeamOfOneDoesItInStart) {
  ThreadTeam team({.width = 1});
  const Ended ended;
  BulkOperation run(team, 5, kNothing, ended);
  ASSERT_EQ(run.start(), Status::ok);
  EXPECT_EQ(ended.times(), 1);
  EXPECT_EQ(ended.thread(), std::this_thread::get_id());
}

// Of one team one run is on at a time, and none is forgotten; callers come in between.
TEST(StartedRun, WaitsForItsTurn) {
  for (const std::size_t width : {1U, 2U, 5U}) {
    ThreadTeam team({.width = width});
    std::atomic<int> runs{0};  // that are on
    std::atomic<std::uint64_t> ran{0};
    struct Body {
      std::atomic<int>& runs;
      std::atomic<std::uint64_t>& ran;
      std::atomic<int> inside{0};
      void operator()(std::size_t first, std::size_t last) {
        if (inside.fetch_add(1) == 0) {
          EXPECT_LE(++runs, 1);
        }
        ran += last - first;
        if (inside.fetch_sub(1) == 1) --runs;
      }
    };
    const auto use = [&] {
      for (std::size_t round = 0; round < test::rounds(300); ++round) {
        Body body{runs, ran};
        if (round % 2 == 0) {
          ASSERT_EQ(team.run(2, [&](IndexRange r) { body(r.first, r.last); }, {.block = 2}).done,
                    2U);
          continue;
        }
        const Ended ended;
        BulkOperation run(team, 2, [&](std::size_t first, std::size_t last) { body(first, last); },
                          ended, {.block = 2});
        ASSERT_EQ(run.start(), Status::ok);
        ASSERT_EQ(ended.get().done, 2U);
      }
    };
    std::vector<std::thread> users;
    for (int i = 0; i < 3; ++i) users.emplace_back(use);
    for (auto& user : users) user.join();
    EXPECT_EQ(ran, 2 * 3 * test::rounds(300));
  }
}

// From inside a block, a run or another started run: it begins when that one has ended.
TEST(StartedRun, MayBeStartedInsideABlock) {
  for (const std::size_t width : {1U, 3U}) {
    ThreadTeam team({.width = width});
    bool over = false;
    const Ended ended;
    BulkOperation inner(team, 8, [&](std::size_t, std::size_t) { EXPECT_TRUE(over); }, ended);
    team.run(1, [&](IndexRange) {
      EXPECT_EQ(inner.start(), Status::ok);
      std::this_thread::yield();
      EXPECT_EQ(ended.times(), 0);
      over = true;
    });
    EXPECT_EQ(ended.get().done, 8U);
  }
}

// A chain that its completions would go on with for ever.
TEST(StartedRun, IsRefusedWhenTheTeamEnds) {
  for (std::size_t round = 0; round < test::rounds(100); ++round) {
    std::optional<ThreadTeam> team(ThreadTeamOptions{.width = 2});
    std::function<Status()> start;
    std::atomic<bool> refused{false};
    const auto again = [&](const Tally&) noexcept {
      const Status status = start();
      EXPECT_TRUE(status == Status::ok || status == Status::closed);
      if (status == Status::closed) refused = true;
    };
    BulkOperation run(*team, 2, kNothing, again);
    start = [&run] { return run.start(); };
    ASSERT_EQ(start(), Status::ok);
    team.reset();
    EXPECT_TRUE(refused);
  }
}

TEST(StartedRun, RunFromInsideItsBlockOrCompletionIsMisuse) {
  for (const std::size_t width : {1U, 3U}) {
    ThreadTeam team({.width = width});
    std::atomic<int> tried{0};
    std::atomic<int> misused{0};
    const auto run = [&] {
      ++tried;
      try {
        (void)team.run(1, [](IndexRange) {});
      } catch (const std::logic_error&) {
        ++misused;
      }
    };
    const Ended ended;
    BulkOperation operation(
        team, 4, [&](std::size_t, std::size_t) { run(); },
        [&, ended](const Tally& tally) noexcept {
          run();
          ended(tally);
        },
        {.block = 1});
    ASSERT_EQ(operation.start(), Status::ok);
    EXPECT_EQ(ended.get().done, 4U);
    EXPECT_GE(tried, 2);
    EXPECT_EQ(misused, tried);
  }
}

// Where start() does the work, its thread may be inside a block of another team.
TEST(StartedRun, ATeamOfOneKnowsWhoWaitsForIt) {
  ThreadTeam outer({.width = 2});
  ThreadTeam one({.width = 1});
  std::atomic<int> misused{0};
  outer.run(1, [&](IndexRange) {
    const Ended ended;
    BulkOperation operation(
        one, 1,
        [&](std::size_t, std::size_t) {
          try {
            (void)outer.run(1, [](IndexRange) {});
          } catch (const std::logic_error&) {
            ++misused;
          }
        },
        ended);
    EXPECT_EQ(operation.start(), Status::ok);
  });
  EXPECT_EQ(misused, 1);
}

}  // namespace

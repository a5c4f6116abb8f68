// SPDX-License-Identifier: MIT
//
// ProcessTeam: deaths as `on_crash` has them, its fork server, and the spare. What a ProcessPool
// does as well is in process_master_test.cpp.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <handoff/process/process_team.hpp>
#include <system_error>
#include <thread>
#include <vector>

#include "support/support.hpp"
#include "unit/process/team_support.hpp"

namespace process_team_deaths_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace team_support;

// ---- Deaths ------------------------------------------------------------------------------------

TEST(ProcessTeamDeaths, ABlockIsReportedAtOnce) {
  const SharedBoard board;
  ProcessTeam team{{.width = 2, .on_crash = OnCrash::report}};
  EXPECT_THROW((void)team.run<die_at_three>(8, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }},
                                            {.block = 1}),
               WorkFailed);
  EXPECT_EQ(board->deaths, 1);
  EXPECT_EQ(team.lost().at(0).attempts, 1U);
  EXPECT_EQ(team.tally().done, 7U);
}

TEST(ProcessTeamDeaths, ResetAllDoesAllBlocksAgainOrFailsAll) {
  const SharedBoard board;
  ProcessTeam team{{.width = 3, .tries = 3, .on_crash = OnCrash::reset_all}};
  EXPECT_EQ(
      team.run<die_at_three>(50, Deadly{board.get(), 2, [] { ::raise(SIGKILL); }}, {.block = 1})
          .done,
      50U);
  expect_rows(*board, 1, 50);
  board->deaths = 0;
  EXPECT_THROW((void)team.run<die_at_three>(50, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }},
                                            {.block = 1}),
               WorkFailed);
  EXPECT_EQ(team.tally().failed, 50U) << "no result stands without the others";
  EXPECT_EQ(board->deaths, 3);
  ASSERT_EQ(team.lost().size(), 1U);
  EXPECT_EQ(team.lost()[0].indices.first, 3U);
  EXPECT_EQ(team.lost()[0].end.text(), "killed by signal 9");
  EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 3}).done, 100U);
}

// Each of these rows ends a worker once.
void die_once_at_some(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    const bool is_deadly = i % 100 == 7;
    if (is_deadly && rows.board->calls[i].exchange(1) == 0) ::raise(SIGKILL);
    rows.board->rows[i] = row(1, i);
  }
}

TEST(ProcessTeamDeaths, TriesAreABlocksHoweverManyOthersEndWorkers) {
  for (const OnCrash on_crash : {OnCrash::give_again, OnCrash::reset_all}) {
    SCOPED_TRACE(on_crash == OnCrash::reset_all ? "reset_all" : "give_again");
    const SharedBoard board;
    ProcessTeam team{{.width = 1, .tries = 2, .on_crash = on_crash}};
    const Tally tally = team.run<die_once_at_some>(1000, Rows{board.get(), 1}, {.block = 1});
    EXPECT_EQ(tally.done, 1000U);
    EXPECT_TRUE(team.lost().empty());
    expect_rows(*board, 1, 1000);
  }
}

// The others end their blocks when the worker of this one has, or a moment later, and look for
// more.
void die_at_three_before_others_look(IndexRange range, const Deadly& deadly) {
  const int seen = deadly.board->deaths;
  if (range.first == 3) {
    ++deadly.board->deaths;
    deadly.die();
  }
  const auto began = std::chrono::steady_clock::now();
  const auto over = [&](std::chrono::nanoseconds time) {
    return std::chrono::steady_clock::now() - began > time;
  };
  while (deadly.board->deaths == seen && !over(10ms)) std::this_thread::yield();
  const auto moment = began.time_since_epoch() % std::chrono::microseconds(100);
  const auto end = std::chrono::steady_clock::now() + moment;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(ProcessTeamDeaths, TriesOfResetAllAreNoMoreThoughOthersLookForABlock) {
  const SharedBoard board;
  ProcessTeam team{{.width = 4,
                    .tries = 15,
                    .replacements_per_second = 1000000,
                    .on_crash = OnCrash::reset_all}};
  for (int round = 0; round < 24; ++round) {
    board->deaths = 0;
    EXPECT_THROW((void)team.run<die_at_three_before_others_look>(
                     4, Deadly{board.get(), 0, [] { ::raise(SIGKILL); }}, {.block = 1}),
                 WorkFailed);
    EXPECT_EQ(board->deaths, 15);
  }
}

// Kills its server once a worker has been forked of which the master was not told.
class KillsTheServer final : public detail::TeamTap {
 public:
  explicit KillsTheServer(Board& board) noexcept : board_(board) {}
  void forked(std::size_t) noexcept override {
    if (board_.ready == 0 || board_.deaths.fetch_add(1) != 0) return;
    std::this_thread::sleep_for(20ms);  // enough for the worker to claim a block, if it did
    ::kill(::getpid(), SIGKILL);
  }

 private:
  Board& board_;
};

// It claimed a block, ended with its server, and the run waited for that block for ever.
TEST(ProcessTeamDeaths, AWorkerThatItsServerHadNotToldOfHasClaimedNothing) {
  const SharedBoard board;
  KillsTheServer tap(*board);
  ProcessTeam team{{.width = 2, .tries = 15, .tap = &tap}};
  Tally tally;
  {
    const Beside killer(board, 3, [] { ::kill(workers().at(0), SIGKILL); });
    tally = team.run<count_slowly>(100, Rows{board.get(), 0}, {.block = 1});
  }
  EXPECT_EQ(tally.done, 100U);
  EXPECT_GE(board->deaths, 1) << "the server forked no worker in the run";
}

// ---- The spare ---------------------------------------------------------------------------------

// The one there is; waits for it.
pid_t spare() {
  EXPECT_TRUE(becomes_true([] { return spares().size() == 1; }));
  return spares().at(0);
}
void kill_and_await(pid_t process) {
  ::kill(process, SIGKILL);
  EXPECT_TRUE(becomes_true([process] { return has_ended(process); }));
}

TEST(ProcessTeamDeaths, ASpareTakesThePlaceOfTheNextThatDies) {
  const SharedBoard board;
  const std::size_t before = open_descriptors();
  {
    ProcessTeam team{{.width = 1, .limit = 100ms}};
    std::uint64_t factor = 1;
    const auto expect_run = [&] {
      ++factor;
      EXPECT_EQ(team.run<compute_rows>(50, Rows{board.get(), factor}).done, 50U);
      expect_rows(*board, factor, 50);
    };
    expect_run();
    EXPECT_TRUE(spares().empty()) << "nobody has died";
    kill_and_await(workers().at(0));
    expect_run();
    for (int i = 0; i < 3; ++i) {
      const pid_t next = spare();
      for (const pid_t worker : workers()) {
        if (worker != next) kill_and_await(worker);
      }
      expect_run();
      EXPECT_EQ(name_of(next), "handoff-worker");
    }
    signal_workers(SIGKILL);  // the spare, too, which nobody had hired
    expect_run();
    const pid_t stopped = spare();
    ::kill(stopped, SIGSTOP);
    for (const pid_t worker : workers()) {
      if (worker != stopped) kill_and_await(worker);
    }
    expect_run();  // it was hired, and killed at the limit
    EXPECT_TRUE(has_ended(stopped));
    (void)spare();
  }
  EXPECT_TRUE(servers_of(::getpid()).empty());
  EXPECT_EQ(open_descriptors(), before);
}

// ---- Nothing hangs -----------------------------------------------------------------------------

TEST(ProcessTeamDeaths, AForkServerThatIsStoppedGoesOn) {
  const SharedBoard board;
  std::vector<pid_t> there;
  {
    ProcessTeam team{{.width = 3, .tries = 15}};
    {
      const Beside killer(board, 3, [] {
        signal_server(SIGSTOP);
        signal_workers(SIGKILL);
      });
      EXPECT_EQ(team.run<count_slowly>(100, Rows{board.get(), 0}, {.block = 1}).done, 100U);
    }
    EXPECT_EQ(team.run<compute_rows>(50, Rows{board.get(), 2}).done, 50U);
    expect_rows(*board, 2, 50);
    there = workers();
    signal_server(SIGSTOP);
  }  // its end waits for the server, too
  for (const pid_t worker : there) EXPECT_TRUE(has_ended(worker));
  EXPECT_TRUE(servers_of(::getpid()).empty());
}

// In the server, before it starts the first worker.
class StandsStill final : public detail::TeamTap {
 public:
  explicit StandsStill(bool for_ever) : for_ever_(for_ever) {}
  int before_start(std::size_t) noexcept override {
    if (!for_ever_) ::raise(SIGSTOP);
    while (for_ever_) ::pause();
    return 0;
  }

 private:
  const bool for_ever_;
};

TEST(ProcessTeamDeaths, AForkServerThatIsStoppedAtTheStartGoesOn) {
  const SharedBoard board;
  StandsStill tap(false);
  ProcessTeam team{{.width = 2, .tap = &tap}};
  EXPECT_EQ(team.width(), 2U);
  EXPECT_EQ(team.run<compute_rows>(50, Rows{board.get(), 2}).done, 50U);
}

TEST(ProcessTeamDeaths, AForkServerThatHangsIsAnError) {
  if (!test::deep()) GTEST_SKIP() << "takes the five seconds that a server has: in a deep run";
  StandsStill tap(true);
  const std::size_t before = open_descriptors();
  try {
    const ProcessTeam team{{.width = 2, .tap = &tap}};
    FAIL() << "it must throw";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ETIMEDOUT);
  }
  EXPECT_TRUE(servers_of(::getpid()).empty());
  EXPECT_EQ(open_descriptors(), before);
}

}}  // namespace process_team_deaths_test

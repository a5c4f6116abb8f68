// SPDX-License-Identifier: MIT
//
// ProcessTeam: whatever dies, stands still or cannot be had, and whenever: right results, or an
// error that says so.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/support.hpp"
#include "unit/process/team_support.hpp"

namespace process_team_deaths_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace team_support;

// ---- Deaths ------------------------------------------------------------------------------------

// Without the handlers of a sanitizer, which would report it and exit.
void die_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

const std::pair<const char*, void (*)()> ways_to_die[] = {
    {"killed by signal 9", [] { ::raise(SIGKILL); }},
    {"killed by signal 11", [] { die_by(SIGSEGV); }},
    {"killed by signal 6", [] { die_by(SIGABRT); }},
    {"killed by signal 31", [] { die_by(SIGSYS); }},
    {"exited with 0", [] { std::exit(0); }},
    {"exited with 3", [] { ::_exit(3); }},
    {"killed by signal 24",
     [] {
       const rlimit limit{1, 1};
       ::setrlimit(RLIMIT_CPU, &limit);
       die_by(SIGXCPU);
     }},
};

TEST(ProcessTeamDeaths, ABlockWhoseWorkerEndsIsGivenAgain) {
  const SharedBoard board;
  ProcessTeam team(2);
  for (const auto& [what, die] : ways_to_die) {
    for (auto& value : board->rows) value = 0;
    board->deaths = 0;
    const Tally tally = team.run<die_at_three>(100, Deadly{board.get(), 1, die}, {.block = 1});
    EXPECT_EQ(tally.done, 100U) << what;
    EXPECT_TRUE(team.lost().empty());
    EXPECT_EQ(board->deaths, 2) << what;
    expect_rows(*board, 1, 100);
  }
}

TEST(ProcessTeamDeaths, ABlockThatEndsItsWorkersIsReportedAndTheRestIsDone) {
  const SharedBoard board;
  ProcessTeam team(2);
  for (const auto& [what, die] : ways_to_die) {
    for (auto& value : board->rows) value = 0;
    board->deaths = 0;
    EXPECT_THROW((void)team.run<die_at_three>(100, Deadly{board.get(), 1000, die}, {.block = 1}),
                 WorkFailed);
    EXPECT_EQ(team.tally().done, 99U);
    EXPECT_EQ(team.tally().failed, 1U);
    ASSERT_EQ(team.lost().size(), 1U);
    EXPECT_EQ(team.lost()[0].indices, (IndexRange{3, 4}));
    EXPECT_EQ(team.lost()[0].end.text(), what);
    EXPECT_EQ(board->deaths, 2) << "two tries";
    board->rows[3] = row(1, 3);
    expect_rows(*board, 1, 100);
  }
}

TEST(ProcessTeamDeaths, TriesAndReportSayHowOften) {
  const SharedBoard board;
  {
    ProcessTeam team{{.width = 2, .tries = 4}};
    EXPECT_THROW((void)team.run<die_at_three>(
                     8, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }}, {.block = 1}),
                 WorkFailed);
    EXPECT_EQ(board->deaths, 4);
    EXPECT_EQ(team.lost().at(0).attempts, 4U);
  }
  board->deaths = 0;
  ProcessTeam team{{.width = 2, .on_crash = OnCrash::report}};
  EXPECT_THROW((void)team.run<die_at_three>(8, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }},
                                            {.block = 1}),
               WorkFailed);
  EXPECT_EQ(board->deaths, 1);
  EXPECT_EQ(team.lost().at(0).attempts, 1U);
  EXPECT_EQ(team.tally().done, 7U);
}

TEST(ProcessTeamDeaths, ResetAllDoesAllBlocksAgain) {
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

TEST(ProcessTeamDeaths, ResetAllLosesTheBlockThatHadItsTriesAndFailsAll) {
  const SharedBoard board;
  ProcessTeam team{{.width = 2, .tries = 2, .on_crash = OnCrash::reset_all}};
  EXPECT_THROW((void)team.run<die_at_three>(50, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }},
                                            {.block = 1}),
               WorkFailed);
  EXPECT_EQ(board->deaths, 2);
  EXPECT_EQ(team.tally().failed, 50U);
  ASSERT_EQ(team.lost().size(), 1U);
  EXPECT_EQ(team.lost()[0].indices.first, 3U);
  EXPECT_EQ(team.lost()[0].end.text(), "killed by signal 9");
}

// Workers are killed at any instant, 1 to 7 of 8, again and again.
struct LongRows {
  std::uint64_t* rows;
  std::uint64_t factor;
};
constexpr std::size_t kLongRows = 512;
constexpr std::size_t kLongBlock = 4;
std::uint64_t long_row(std::uint64_t factor, std::size_t index) {
  std::uint64_t value = factor;
  for (std::uint64_t i = 0; i < 60; ++i) value = row(value, index + i);
  return value;
}
void compute_long_rows(IndexRange range, const LongRows& rows) {
  for (const std::size_t i : range) {
    rows.rows[i] = ~std::uint64_t{0};  // half a row, for a moment
    rows.rows[i] = long_row(rows.factor, i);
  }
}

// The longest that a run should take: what it takes undisturbed, the blocks that are done again,
// and 10 ms a kill.
class TimeForKills {
 public:
  TimeForKills(ProcessTeam& team, const LongRows& rows) {
    const std::chrono::nanoseconds alone =
        time_of([&] { compute_long_rows({0, kLongRows}, rows); });
    block_ = alone / std::int64_t{kLongRows / kLongBlock};
    std::array<std::chrono::nanoseconds, 21> undisturbed;
    for (auto& each : undisturbed) {
      each = time_of(
          [&] { (void)team.run<compute_long_rows>(kLongRows, rows, {.block = kLongBlock}); });
    }
    std::sort(undisturbed.begin(), undisturbed.end());
    usual_ = undisturbed[undisturbed.size() / 2];
  }

  template <class Work>
  static std::chrono::nanoseconds time_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begin;
  }

  void add(std::size_t kills, std::chrono::nanoseconds took) {
    if (kills == 0) return;  // it was over before
    const std::size_t cpus = std::max(std::thread::hardware_concurrency(), 1U);
    const auto again = static_cast<std::int64_t>((kills + cpus - 1) / cpus);
    const std::chrono::nanoseconds most =
        usual_ + again * block_ + static_cast<std::int64_t>(kills) * 10ms;
    ++runs_;
    late_ += took > most ? 1 : 0;
    latest_ = std::max(latest_, took - most);
  }
  // Printed and never asserted: a busy machine is no fault.
  void print() const {
    const auto us = [](std::chrono::nanoseconds time) {
      return static_cast<long long>(
          std::chrono::duration_cast<std::chrono::microseconds>(time).count());
    };
    std::printf(
        "%zu of %zu runs with kills took longer than they should (at most 5 %%);"
        " undisturbed %lld us, a block %lld us, the latest was %lld us late\n",
        late_, runs_, us(usual_), us(block_), us(std::max(latest_, 0ns)));
  }

 private:
  std::chrono::nanoseconds block_{0};
  std::chrono::nanoseconds usual_{0};
  std::chrono::nanoseconds latest_ = std::chrono::nanoseconds::min();
  std::size_t runs_ = 0;
  std::size_t late_ = 0;
};

// Kills so many workers beside a run; which and when follows from the seed.
class Killer {
 public:
  Killer(std::size_t kills, std::uint64_t seed)
      : thread_([this, kills, random = std::mt19937_64(seed)]() mutable {
          for (std::size_t i = 0; i < kills && !over_; ++i) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
            const std::vector<pid_t> alive = workers();
            if (over_ || alive.empty()) continue;
            if (::kill(alive[random() % alive.size()], SIGKILL) == 0) ++killed_;
          }
        }) {}
  ~Killer() { (void)stop(); }
  Killer(const Killer&) = delete;
  Killer& operator=(const Killer&) = delete;

  // How many it has killed.
  std::size_t stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return killed_;
  }

 private:
  std::atomic<bool> over_{false};
  std::size_t killed_ = 0;
  std::thread thread_;
};

TEST(ProcessTeamDeaths, KillsAtRandomCostNoRow) {
  const std::size_t runs = test::deep() ? 1000 : test::sanitized ? 30 : 200;
  const SharedBoard board;
  ProcessTeam team{{.width = 8, .tries = 15, .replacements_per_second = 10'000}};
  // The serial results, of which each run must have one, byte for byte.
  std::array<std::array<std::uint64_t, kLongRows>, 4> serial;
  for (std::size_t factor = 0; factor < serial.size(); ++factor) {
    compute_long_rows({0, kLongRows}, {serial[factor].data(), factor});
  }
  std::optional<TimeForKills> time;
  if (test::deep()) time.emplace(team, LongRows{board->rows.data(), 0});
  auto random = test::random();
  std::size_t killed = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t factor = run % serial.size();
    std::fill_n(board->rows.begin(), kLongRows, 0);
    Killer killer(1 + random() % 7, random());
    Tally tally;
    const auto took = TimeForKills::time_of([&] {
      EXPECT_NO_THROW(tally = team.run<compute_long_rows>(
                          kLongRows, LongRows{board->rows.data(), factor}, {.block = kLongBlock}));
    });
    const std::size_t kills = killer.stop();
    killed += kills;
    if (time) time->add(kills, took);
    ASSERT_EQ(tally.done, kLongRows) << "run " << run;
    ASSERT_EQ(std::memcmp(board->rows.data(), serial[factor].data(), sizeof serial[factor]), 0)
        << "run " << run;
  }
  EXPECT_GT(killed, 0U) << "each run was over before anything was killed: nothing was tried";
  if (time) time->print();
}

TEST(ProcessTeamDeaths, AllWorkersDeadAtOnce) {
  const SharedBoard board;
  ProcessTeam team{{.width = 4, .tries = 15}};
  for (int round = 0; round < 3; ++round) {
    board->ready = 0;
    for (auto& calls : board->calls) calls = 0;
    Tally tally;
    {
      const Beside killer(board, 4, [] { signal_workers(SIGKILL); });
      tally = team.run<count_slowly>(100, Rows{board.get(), 0}, {.block = 1});
    }
    EXPECT_EQ(tally.done, 100U);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_GE(board->calls[i], 1U);
    signal_workers(SIGKILL);  // between runs
  }
}

TEST(ProcessTeamDeaths, TheForkServerMayDieToo) {
  const SharedBoard board;
  ProcessTeam team{{.width = 3, .tries = 15}};
  for (const bool workers_first : {false, true, true}) {
    board->ready = 0;
    Tally tally;
    {
      const Beside killer(board, 3, [workers_first] {
        if (workers_first) signal_workers(SIGKILL);
        signal_server(SIGKILL);
      });
      tally = team.run<count_slowly>(100, Rows{board.get(), 0}, {.block = 1});
    }
    EXPECT_EQ(tally.done, 100U);
    if (workers_first) {  // between runs
      signal_workers(SIGKILL);
      signal_server(SIGKILL);
    }
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

void stop_once_at_three(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    if (i == 3 && rows.board->stops.fetch_add(1) < static_cast<int>(rows.factor)) ::raise(SIGSTOP);
    rows.board->rows[i] = row(1, i);
  }
}

constexpr std::chrono::milliseconds kLimit{test::sanitized ? 200 : 100};

// A healthy worker may be late too, on a busy machine: so there are more tries than one, and what
// is not done is lost and said to be.
TEST(ProcessTeamDeaths, AWorkerThatStandsStillIsKilledAtTheLimit) {
  const SharedBoard board;
  ProcessTeam team{{.width = 2, .tries = 15, .limit = kLimit}};
  EXPECT_EQ(team.run<stop_once_at_three>(50, Rows{board.get(), 1}, {.block = 1}).done, 50U);
  expect_rows(*board, 1, 50);
  // Stopped between runs, at no block.
  signal_workers(SIGSTOP);
  EXPECT_EQ(team.run<compute_rows>(50, Rows{board.get(), 2}).done, 50U);
  expect_rows(*board, 2, 50);
}

TEST(ProcessTeamDeaths, ABlockAtWhichWorkersStandStillIsLost) {
  const SharedBoard board;
  ProcessTeam team{{.width = 2, .limit = kLimit}};
  EXPECT_THROW((void)team.run<stop_once_at_three>(50, Rows{board.get(), 1000}, {.block = 1}),
               WorkFailed);
  EXPECT_EQ(team.tally().done + team.lost().size(), 50U);
  EXPECT_TRUE(std::any_of(team.lost().begin(), team.lost().end(),
                          [](const LostWork& lost) { return lost.indices == IndexRange{3, 4}; }));
  for (const LostWork& lost : team.lost()) EXPECT_EQ(lost.end.text(), "killed at the limit");
}

// ---- At each step of the protocol --------------------------------------------------------------

TEST(ProcessTeamDeaths, KilledAtEachStep) {
  const SharedBoard board;
  const SharedMemory memory = SharedMemory::create({.bytes = sizeof(KillsAtStep::Shared)});
  auto& shared = *static_cast<KillsAtStep::Shared*>(static_cast<void*>(memory.bytes().data()));
  KillsAtStep tap(shared);
  for (const char* const step : {"started", "claimed", "computed", "over", "told"}) {
    const int most = std::string_view(step) == "claimed" || std::string_view(step) == "computed"
                         ? (test::sanitized ? 5 : 20)
                         : 2;
    for (int at = 1; at <= most; ++at) {
      for (auto& value : board->rows) value = 0;
      std::strncpy(shared.step.data(), step, shared.step.size() - 1);
      shared.passed = 0;
      shared.at = at;
      ProcessTeam team{{.width = 2, .tap = &tap}};
      EXPECT_EQ(team.run<compute_rows>(20, Rows{board.get(), 5}, {.block = 1}).done, 20U)
          << step << ' ' << at;
      expect_rows(*board, 5, 20);
      EXPECT_EQ(team.run<compute_rows>(20, Rows{board.get(), 6}, {.block = 1}).done, 20U);
      expect_rows(*board, 6, 20);
      EXPECT_TRUE(becomes_true([&] { return shared.passed >= at; })) << "never came to " << step;
    }
    std::printf("a worker of the team was killed at \"%s\", the first %d times\n", step, most);
  }
}

// ---- Workers that cannot be had ----------------------------------------------------------------

class Refuses final : public detail::TeamTap {
 public:
  explicit Refuses(std::atomic<int>& left) : left_(left) {}
  int before_start(std::size_t) noexcept override { return left_.fetch_sub(1) <= 0 ? EAGAIN : 0; }

 private:
  std::atomic<int>& left_;  // so many may start
};

TEST(ProcessTeamDeaths, FewerWorkersOrAnError) {
  const SharedBoard board;
  const std::size_t before = open_descriptors();
  Refuses tap(board->stops);
  board->stops = 3;
  {
    ProcessTeam team{{.width = 5, .tap = &tap}};
    EXPECT_EQ(team.width(), 3U);
    EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 4}).done, 100U);
    expect_rows(*board, 4, 100);
  }
  for (int k = 0; k < 5; ++k) {
    board->stops = k;
    try {
      ProcessTeam team{{.width = 5, .on_fewer = OnFewerWorkers::refuse, .tap = &tap}};
      FAIL() << k;
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("start one"), std::string::npos);
      EXPECT_EQ(error.code().value(), EAGAIN);
    }
    EXPECT_TRUE(servers_of(::getpid()).empty());
  }
  board->stops = 0;
  EXPECT_THROW(ProcessTeam({.width = 2, .tap = &tap}), std::system_error);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ProcessTeamDeaths, AllDeadAndNoneToBeHadIsAnError) {
  for (const bool server_too : {false, true}) {
    const SharedBoard board;
    Refuses tap(board->stops);
    board->stops = 2;
    ProcessTeam team{{.width = 2, .tap = &tap}};
    {
      const Beside killer(board, 10, [server_too] {
        signal_workers(SIGKILL);
        if (server_too) signal_server(SIGKILL);
      });
      EXPECT_THROW((void)team.run<count_slowly>(4000, Rows{board.get(), 0}, {.block = 1}),
                   std::system_error);
    }
    EXPECT_TRUE(team.tally().balanced());
    EXPECT_GT(team.tally().done, 0U);
    EXPECT_GT(team.tally().cancelled, 0U);
    EXPECT_THROW((void)team.run<compute_rows>(10, Rows{board.get(), 0}), std::system_error);
    EXPECT_EQ(team.tally().cancelled, 10U);
    board->stops = 1000;
    EXPECT_EQ(team.run<compute_rows>(10, Rows{board.get(), 0}).done, 10U) << "they are back";
  }
}

class DiesAtStart final : public detail::TeamTap {
 public:
  void at(const char* step, std::size_t) noexcept override {
    if (std::strcmp(step, "started") == 0) ::_exit(1);
  }
};

TEST(ProcessTeamDeaths, WorkersThatNeverWorkAreAnErrorAndNoLoop) {
  const SharedBoard board;
  DiesAtStart tap;
  ProcessTeam team{{.width = 2, .tap = &tap}};
  try {
    (void)team.run<compute_rows>(10, Rows{board.get(), 0});
    FAIL() << "it must throw";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ECHILD);
    EXPECT_NE(std::string(error.what()).find("all end"), std::string::npos);
  }
  EXPECT_EQ(team.tally().cancelled, 10U);
}

}}  // namespace process_team_deaths_test

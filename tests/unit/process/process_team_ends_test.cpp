// SPDX-License-Identifier: MIT
//
// ProcessTeam: deaths as `on_crash` has them, its fork server, and the spare; what the system takes
// away - memory, numbers of processes, the master - and what is left behind then. What a
// ProcessPool does as well is in process_master_test.cpp.
#include "process/kept_names.hpp"
#include "support/child.hpp"
#include "support/filtered_calls.hpp"
#include "support/test.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/team_support.hpp"

namespace process_team_ends_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace team_support;
using test::SharedName;

// ---- Deaths ------------------------------------------------------------------------------------

Deadly killing(const SharedBoard& board, int times) {
  return {board.get(), times, [] { ::raise(SIGKILL); }};
}

TEST(ProcessTeamDeaths, ABlockIsReportedAtOnce) {
  const SharedBoard board;
  ProcessTeam team{{.width = 2, .on_crash = OnCrash::report}};
  EXPECT_THROW((void)team.run<die_at_three>(8, killing(board, 1000), {.block = 1}), WorkFailed);
  EXPECT_EQ(board->deaths, 1);
  EXPECT_EQ(team.lost().at(0).attempts, 1U);
  EXPECT_EQ(team.tally().done, 7U);
}

TEST(ProcessTeamDeaths, ResetAllDoesAllBlocksAgainOrFailsAll) {
  const SharedBoard board;
  ProcessTeam team{{.width = 3, .tries = 3, .on_crash = OnCrash::reset_all}};
  EXPECT_EQ(team.run<die_at_three>(50, killing(board, 2), {.block = 1}).done, 50U);
  expect_rows(*board, 1, 50);
  board->deaths = 0;
  EXPECT_THROW((void)team.run<die_at_three>(50, killing(board, 1000), {.block = 1}), WorkFailed);
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
  for (int round = 0, rounds = test::deep() ? 60 : 5; round < rounds; ++round) {
    board->deaths = 0;
    const auto run = [&] {
      (void)team.run<die_at_three_before_others_look>(4, killing(board, 0), {.block = 1});
    };
    EXPECT_THROW(run(), WorkFailed);
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
  const auto before = open_descriptors();
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

// In the server, before a fork: which descriptors are free. From the second fork on it may fork no
// more.
class ForksTwice final : public detail::TeamTap {
 public:
  struct Seen {
    std::atomic<std::size_t> starts;
    std::array<int, 8> second_free;  // a door has two ends
  };
  explicit ForksTwice(Seen& seen) : seen_(seen) {}
  int before_start(std::size_t) noexcept override {
    const int first = ::dup(STDIN_FILENO);
    const int second = ::dup(STDIN_FILENO);
    ::close(first);
    ::close(second);
    seen_.second_free[seen_.starts++ % seen_.second_free.size()] = second;
    return 0;
  }
  void forked(std::size_t) noexcept override {
    if (seen_.starts == 2) (void)test::forbid({SYS_clone, SYS_fork, SYS_vfork}, EAGAIN);
  }

 private:
  Seen& seen_;
};

TEST(ProcessTeamDeaths, AForkThatIsRefusedLeavesNoDoorOpen) {
  if (test::in_child([] { return test::forbid({SYS_fork}, EAGAIN) ? 0 : 1; }) != 0) {
    GTEST_SKIP() << "no filter of system calls here";
  }
  const SharedBoard board;
  const Shared<ForksTwice::Seen> seen;
  ForksTwice tap(*seen);
  ProcessTeam team{{.width = 1, .tap = &tap}};
  const auto run = [&] { return team.run<compute_rows>(10, Rows{board.get(), 1}).done; };
  EXPECT_EQ(run(), 10U);
  kill_and_await(workers().at(0));
  EXPECT_EQ(run(), 10U);
  kill_and_await(workers().at(0));  // there is no spare
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)run(), std::system_error);
  ASSERT_GE(seen->starts, 4U);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(seen->second_free[i], seen->second_free[0]) << "start " << i;
  }
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
  const auto before = open_descriptors();
  const auto make = [&] { return ProcessTeam{{.width = 2, .tap = &tap}}.width(); };
  EXPECT_EQ(test::caught<std::system_error>(make).value().code().value(), ETIMEDOUT);
  EXPECT_TRUE(servers_of(::getpid()).empty());
  EXPECT_EQ(open_descriptors(), before);
}

// ---- No memory ---------------------------------------------------------------------------------

// Hardly any more memory for this process from here on: some for its stack.
void have_no_more_memory() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const rlim_t most = (pages + 4096) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
}
void* volatile taken = nullptr;
void take_much() { taken = ::operator new(std::size_t{1} << 30); }
void throw_at_three(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    if (i == 3) {
      have_no_more_memory();
      take_much();
    }
    rows.board->rows[i] = row(rows.factor, i);
  }
}

TEST(ProcessTeamEnds, AWorkerThatCannotAllocate) {
  if (test::sanitized) GTEST_SKIP() << "a limit of mappings stops a sanitizer";
  const SharedBoard board;
  ProcessTeam team(2);
  // One that must go on is ended; another one does its block.
  const auto die = [] {
    std::set_terminate([] {
      ::signal(SIGABRT, SIG_DFL);
      std::abort();
    });
    have_no_more_memory();
    []() noexcept { take_much(); }();
  };
  EXPECT_EQ(team.run<die_at_three>(20, Deadly{board.get(), 1, die}, {.block = 1}).done, 20U);
  EXPECT_EQ(board->deaths, 2);
  expect_rows(*board, 1, 20);
  // One that says so has failed, and its worker goes on.
  const auto run = [&] { return team.run<throw_at_three>(20, Rows{board.get(), 2}, {.block = 1}); };
  EXPECT_STREQ(test::caught<WorkFailed>(run).value().what(), "std::bad_alloc");
  EXPECT_EQ(team.tally().done, 19U);
  EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 5}).done, 100U);
  expect_rows(*board, 5, 100);
}

// ---- Ends --------------------------------------------------------------------------------------

TEST(ProcessTeamEnds, ItsEndIsTheEndOfStoppedWorkersToo) {
  std::vector<pid_t> there;
  {
    ProcessTeam made(2);
    const ProcessTeam team(std::move(made));
    there = workers();
    signal_workers(SIGSTOP);
  }
  for (const pid_t worker : there) EXPECT_TRUE(has_ended(worker));
}

// More deaths between runs than the server can tell of, while nobody listens.
TEST(ProcessTeamEnds, ItsEndComesAfterManyDeaths) {
  if (!test::deep() || test::sanitized) GTEST_SKIP() << "so many processes: in a deep run";
  std::vector<pid_t> there;
  {
    ProcessTeam team(400);
    there = workers();
    EXPECT_EQ(there.size(), team.width());
    signal_workers(SIGKILL);
    EXPECT_TRUE(becomes_true([&] { return std::all_of(there.begin(), there.end(), has_ended); }));
  }
  for (const pid_t worker : there) EXPECT_TRUE(has_ended(worker));
  EXPECT_TRUE(servers_of(::getpid()).empty());
}

// A thread that made a team may end; a program may ignore the ends of its children.
TEST(ProcessTeamEnds, TheThreadThatMadeItMayEnd) {
  const SharedBoard board;
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &before);
  {
    std::unique_ptr<ProcessTeam> team;
    std::thread([&] { team = std::make_unique<ProcessTeam>(2); }).join();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(team->run<compute_rows>(50, Rows{board.get(), 9}).done, 50U);
    board->deaths = 0;
    EXPECT_EQ(team->run<die_at_three>(50, killing(board, 1), {.block = 1}).done, 50U);
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

// ---- The master is killed ----------------------------------------------------------------------

// A name that is another's by now is not taken from it.
void name_another(bool is_fifo) {
  const Shared<std::atomic<pid_t>> server;
  const SharedName name;
  const pid_t master = test::start_child([&] {
    const auto memory = SharedMemory::create({.name = name.text(), .bytes = 5000});
    const ProcessTeam team(1);
    *server = servers_of(::getpid()).front();
    for (;;) ::pause();
    return 0;
  });
  ASSERT_TRUE(becomes_true([&] { return *server != 0; }));
  ASSERT_TRUE(name.is_there());
  ASSERT_EQ(::shm_unlink(name.text().c_str()), 0);
  SharedMemory mine;
  if (is_fifo) {
    ASSERT_EQ(::mkfifo(name.path().c_str(), 0600), 0);
  } else {
    mine = SharedMemory::create({.name = name.text(), .bytes = 5000});
  }
  ::kill(master, SIGKILL);
  ::waitpid(master, nullptr, 0);
  ASSERT_TRUE(becomes_true([&] { return has_ended(*server); }));
  EXPECT_TRUE(name.is_there());
}

TEST(ProcessTeamEnds, AKilledMasterTakesNoNameOfAnother) {
  name_another(false);
  name_another(true);
}

// It was killed before it made the file that it had named: what stands there is another's, unless
// it is a file that nobody has locked.
TEST(ProcessTeamEnds, WhatStandsWhereAFileWasToBeMadeIsNotWaitedForAndStays) {
  const SharedName name;
  const auto is_taken_away = [&, program = ::getpid()] {
    const int code = test::in_child([&] {
      ::alarm(20);
      detail::take_away_names_of(program);
      return 0;
    });
    EXPECT_EQ(code, 0) << "it hangs";
    return !name.is_there();
  };
  detail::KeptName kept;
  kept.expect(name.text().c_str());
  ASSERT_EQ(::mkfifo(name.path().c_str(), 0600), 0);
  EXPECT_FALSE(is_taken_away());
  ASSERT_EQ(::unlink(name.path().c_str()), 0);
  std::ofstream(name.path()) << "text";
  EXPECT_TRUE(is_taken_away());
}

// More names than are kept: the memory is made all the same.
TEST(ProcessTeamEnds, NamesBeyondThoseThatAreKept) {
  std::vector<std::unique_ptr<SharedName>> names;
  std::vector<SharedMemory> memories;
  for (int i = 0; i < 140; ++i) {
    names.push_back(std::make_unique<SharedName>());
    memories.push_back(SharedMemory::create({.name = names.back()->text(), .bytes = 1}));
  }
  memories.clear();
  for (const auto& name : names) EXPECT_FALSE(name->is_there());
}

// ---- Numbers that come again -------------------------------------------------------------------

void tell_numbers(IndexRange, const Rows& rows) {
  rows.board->rows[0] = static_cast<std::uint64_t>(::getpid());
  rows.board->rows[1] = static_cast<std::uint64_t>(::getppid());
}

// The worker, or the fork server, ends, and a stranger gets its number.
int number_again(bool of_server) {
  const SharedBoard board;
  pid_t stranger = -1;
  {
    ProcessTeam team(1);
    if (team.run<tell_numbers>(1, Rows{board.get(), 0}).done != 1) return 1;
    const auto number = static_cast<pid_t>(board->rows[of_server ? 1 : 0]);
    if (::kill(number, SIGKILL) != 0) return 2;
    if (of_server && ::waitpid(number, nullptr, 0) != number) return 3;
    if (!becomes_true([&] { return ::kill(number, 0) != 0 && errno == ESRCH; })) return 4;
    stranger = subprocess_support::stranger_with(number);
    if (stranger != number) return 5;
    if (team.run<compute_rows>(100, Rows{board.get(), 1}).done != 100) return 6;
    if (::waitpid(stranger, nullptr, WNOHANG) != 0) return 7;
  }
  if (::waitpid(stranger, nullptr, WNOHANG) != 0) return 8;
  ::kill(stranger, SIGKILL);
  if (::waitpid(stranger, nullptr, 0) != stranger) return 9;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // workers whose server was killed
  }
  return 0;
}
const subprocess_support::RoleEntry team_numbers_again(
    "team_numbers_again", [](const std::string&) {
      if (::getpid() != 1) return 77;
      for (int round = 0; round < 10; ++round) {
        for (const bool of_server : {false, true}) {
          if (const int code = number_again(of_server); code != 0)
            return code + (of_server ? 20 : 0);
        }
      }
      return 0;
    });
TEST(ProcessTeamEnds, NumbersThatComeAgain) {
  const auto end = subprocess_support::run_role_among_own_numbers("team_numbers_again");
  if (!end.has_value()) GTEST_SKIP() << "no right to a space of numbers";
  EXPECT_EQ(end->text(), "exited with 0");
}

}}  // namespace process_team_ends_test

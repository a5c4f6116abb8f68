// SPDX-License-Identifier: MIT
//
// ProcessTeam: right results, and what its workers are. Deaths are in process_master_test.cpp.
#include <dlfcn.h>

#include "support/test.hpp"
#include "unit/process/late_kernel.hpp"
#include "unit/process/team_support.hpp"

namespace process_team_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace team_support;

// ---- Right results -----------------------------------------------------------------------------

TEST(ProcessTeam, EachIndexIsComputedOnceInOtherProcesses) {
  const SharedBoard board;
  for (const std::size_t width : {1U, 2U, 5U}) {
    ProcessTeam team(width);
    EXPECT_EQ(team.width(), width);
    for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U, 4096U}) {
      for (const std::size_t block : {0U, 1U, 64U, 5000U}) {
        for (auto& calls : board->calls) calls = 0;
        const Rows rows{board.get(), count + width};
        ASSERT_TRUE(
            test::came_to(team.run<compute_rows>(count, rows, {.block = block}), {.done = count}));
        expect_rows(*board, count + width, count);
        for (std::size_t i = 0; i < Board::most; ++i) {
          ASSERT_EQ(board->calls[i], i < count ? 1U : 0U);
        }
      }
    }
  }
}

struct Largest {
  Board* board;
  std::array<unsigned char, ProcessTeam::max_arguments - sizeof(Board*)> bytes;
};
void sum_bytes(IndexRange range, const Largest& given) {
  for (const std::size_t i : range) {
    std::uint64_t sum = 0;
    for (const unsigned char byte : given.bytes) sum = 31 * sum + byte;
    given.board->rows[i] = sum;
  }
}

TEST(ProcessTeam, ArgumentsAreCopiedWhole) {
  const SharedBoard board;
  ProcessTeam team(2);
  auto random = test::random();
  for (int run = 0; run < 20; ++run) {
    Largest given{board.get(), {}};
    std::uint64_t sum = 0;
    for (unsigned char& byte : given.bytes) {
      byte = static_cast<unsigned char>(random());
      sum = 31 * sum + byte;
    }
    (void)team.run<sum_bytes>(10, given);
    for (std::size_t i = 0; i < 10; ++i) ASSERT_EQ(board->rows[i], sum);
  }
}

// More blocks than CPUs, each of which waits until all have begun: more workers are needed than the
// run wakes at first.
void wait_for_all(IndexRange range, const Rows& rows) {
  const auto late = std::chrono::steady_clock::now() + 20s;
  ++rows.board->calls[0];
  while (rows.board->calls[0] < rows.factor && std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(100us);
  }
  for (const std::size_t i : range) rows.board->rows[i] = rows.board->calls[0];
}

TEST(ProcessTeam, BlocksThatWaitForEachOtherHaveAWorkerEach) {
  const SharedBoard board;
  const std::size_t width = sync::cpu_budget().width() + 4;
  ProcessTeam team(width);
  for (int run = 0; run < 20; ++run) {
    board->calls[0] = 0;
    EXPECT_EQ(team.run<wait_for_all>(width, Rows{board.get(), width}, {.block = 1}).done, width);
    for (std::size_t i = 0; i < width; ++i) ASSERT_EQ(board->rows[i], width);
  }
}

// Of those that a run wakes first.
TEST(ProcessTeam, WorkersThatStandStillAreDoneWithout) {
  const SharedBoard board;
  const std::size_t cpus = sync::cpu_budget().width();
  ProcessTeam team(cpus + 1);
  EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 3}).done, 100U);
  // Between runs, so at no block.
  std::vector<pid_t> stopped = workers();
  std::sort(stopped.begin(), stopped.end());
  ASSERT_EQ(stopped.size(), cpus + 1);
  stopped.pop_back();
  for (const pid_t worker : stopped) ::kill(worker, SIGSTOP);
  EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 4}).done, 100U);
  expect_rows(*board, 4, 100);
  for (const pid_t worker : stopped) ::kill(worker, SIGCONT);
}

TEST(ProcessTeam, RunsByManyThreadsTakeTurns) {
  const SharedBoard board;
  ProcessTeam team(2);
  std::atomic<int> wrong{0};
  test::Crew(4, [&] {
    for (std::size_t i = 0; i < test::rounds(50); ++i) {
      wrong += team.run<compute_rows>(100, Rows{board.get(), 7}).done != 100;
    }
  }).join();
  EXPECT_EQ(wrong, 0);
  expect_rows(*board, 7, 100);
}

void throw_at_multiples(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    if (i % rows.factor == 0) throw std::runtime_error("row " + std::to_string(i));
    rows.board->rows[i] = i;
  }
}

TEST(ProcessTeam, AnExceptionFailsItsBlockAndComesOverAsText) {
  const SharedBoard board;
  ProcessTeam team(2);
  const WorkFailed failure =
      test::caught<WorkFailed>([&] {
        return team.run<throw_at_multiples>(10, Rows{board.get(), 5}, {.block = 1});
      }).value();
  EXPECT_TRUE(std::string(failure.what()) == "row 0" || std::string(failure.what()) == "row 5");
  EXPECT_EQ(failure.lost().end.kind, WorkerEnd::Kind::alive);
  EXPECT_EQ(team.tally().failed, 2U);
  EXPECT_EQ(team.tally().done, 8U);
  EXPECT_TRUE(team.lost().empty());
  EXPECT_EQ(team.run<compute_rows>(10, Rows{board.get(), 1}).done, 10U) << "usable afterwards";
}

TEST(ProcessTeam, AStopOrADeadlineLeavesOutWhatHasNotBegun) {
  const SharedBoard board;
  ProcessTeam team(2);
  sync::StopSource source;
  const sync::StopToken token = source.token();
  std::thread stopper([&] {
    while (board->ready == 0) std::this_thread::yield();
    source.request_stop();
  });
  const Tally stopped =
      team.run<count_slowly>(4000, Rows{board.get(), 0}, {.block = 1, .until = token});
  stopper.join();
  EXPECT_TRUE(stopped.balanced());
  EXPECT_GT(stopped.done, 0U);
  EXPECT_GT(stopped.cancelled, 0U);
  EXPECT_EQ(stopped.done, board->ready);
  EXPECT_EQ(team.run<count_slowly>(10, Rows{board.get(), 0}, {.until = token}).cancelled, 10U);
  const Tally late =
      team.run<count_slowly>(4000, Rows{board.get(), 0}, {.block = 1, .until = 20ms});
  EXPECT_TRUE(late.balanced());
  EXPECT_GT(late.expired, 0U);
  EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 3}).done, 100U);
}

// ---- What a worker is --------------------------------------------------------------------------

void look_around(IndexRange, const Rows& rows) {
  rows.board->rows[0] = open_descriptors().size();
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  rows.board->rows[1] = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGSEGV) == 0;
  rows.board->rows[2] = static_cast<std::uint64_t>(::getpid());
  rows.board->rows[3] = static_cast<std::uint64_t>(::getppid());
}

TEST(ProcessTeam, AWorkerHasNoDescriptorAndBlocksSignals) {
  const SharedBoard board;
  const int open_here = ::dup(0);
  {
    ProcessTeam team(2);
    EXPECT_EQ(team.run<look_around>(1, Rows{board.get(), 0}).done, 1U);
    EXPECT_EQ(board->rows[0], 5U) << "and those by which it tells the master and asks it";
    EXPECT_EQ(board->rows[1], 1U);
    EXPECT_NE(board->rows[2], static_cast<std::uint64_t>(::getpid()));
    EXPECT_NE(board->rows[3], static_cast<std::uint64_t>(::getpid()));
  }
  ::close(open_here);
}

struct Nested {
  ProcessTeam* team;
  Board* board;
};
void run_within(IndexRange, const Nested& nested) {
  (void)nested.team->run<compute_rows>(1, Rows{nested.board, 1});
}

TEST(ProcessTeam, ARunFromInsideIsMisuse) {
  const SharedBoard board;
  ProcessTeam team(1);
  const auto nested = [&] { return team.run<run_within>(1, Nested{&team, board.get()}); };
  EXPECT_TRUE(test::says(test::caught<WorkFailed>(nested).value(), "from inside"));
}

// A shared object that is loaded after the team was made is in none of its workers.
TEST(ProcessTeam, AKernelThatWasLoadedLateIsRefused) {
  const auto file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libhandoff_late_kernel.so";
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) {
    GTEST_SKIP() << "a repetition of this test has loaded it already: once in a process";
  }
  const SharedBoard board;
  ProcessTeam team(2);
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto run_late = reinterpret_cast<RunLate*>(::dlsym(library, "handoff_run_late"));
  ASSERT_NE(run_late, nullptr);
  EXPECT_EQ(run_late(team, board->rows.data(), 10), ENOENT);
  EXPECT_EQ(board->rows[1], 0U);
  EXPECT_EQ(team.run<compute_rows>(10, Rows{board.get(), 3}).done, 10U) << "usable afterwards";
  ProcessTeam later(2);
  EXPECT_EQ(run_late(later, board->rows.data(), 10), -1) << "this one has it";
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(board->rows[i], 7 * i);
}

}}  // namespace process_team_test

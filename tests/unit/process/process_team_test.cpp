// SPDX-License-Identifier: MIT
//
// ProcessTeam: right results, whatever dies and whenever.
#include <gtest/gtest.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/sync/stop_token.hpp>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/support.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

// ---- What kernels and tests share --------------------------------------------------------------

// What lies in the memory that all processes of a test have.
struct Board {
  static constexpr std::size_t most = 4096;
  std::array<std::uint64_t, most> rows;
  std::array<std::atomic<std::uint32_t>, most> calls;
  std::atomic<int> first_worker;
  std::atomic<int> stops;
  std::atomic<int> deaths;
  std::atomic<unsigned> ready;
};

class SharedBoard {
 public:
  SharedBoard() : memory_(SharedMemory::create({.bytes = sizeof(Board)})) {}
  Board& operator*() const {
    return *static_cast<Board*>(static_cast<void*>(memory_.bytes().data()));
  }
  Board* operator->() const { return &**this; }
  Board* get() const { return &**this; }

 private:
  SharedMemory memory_;
};

struct Rows {
  Board* board;
  std::uint64_t factor;
};

std::uint64_t row(std::uint64_t factor, std::size_t index) {
  std::uint64_t value = factor + index;
  for (int i = 0; i < 200; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  return value;
}

void compute_rows(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    rows.board->rows[i] = 0;  // half a row, for a moment
    rows.board->rows[i] = row(rows.factor, i);
    ++rows.board->calls[i];
  }
}

void expect_rows(const Board& board, std::uint64_t factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(board.rows[i], row(factor, i)) << "row " << i;
}

bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return true;
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos || line[name_end + 2] == 'Z' || line[name_end + 2] == 'X';
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                     "/children");
  for (pid_t child = 0; file >> child;) found.push_back(child);
  return found;
}

std::string name_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// The fork servers of `process`.
std::vector<pid_t> servers_of(pid_t process) {
  std::vector<pid_t> found;
  DIR* const tasks = ::opendir(("/proc/" + std::to_string(process) + "/task").c_str());
  if (tasks == nullptr) return found;
  while (const dirent* const entry = ::readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream file("/proc/" + std::to_string(process) + "/task/" + entry->d_name + "/children");
    for (pid_t child = 0; file >> child;) {
      if (name_of(child) == "handoff-forks") found.push_back(child);
    }
  }
  ::closedir(tasks);
  return found;
}

// The workers of this process's only team.
std::vector<pid_t> workers() {
  std::vector<pid_t> found;
  for (const pid_t server : servers_of(::getpid())) {
    const std::vector<pid_t> its = children_of(server);
    found.insert(found.end(), its.begin(), its.end());
  }
  return found;
}

std::set<std::string> names_in(const char* folder) {
  std::set<std::string> names;
  DIR* const listing = ::opendir(folder);
  if (listing == nullptr) return names;
  while (const dirent* const entry = ::readdir(listing)) names.insert(entry->d_name);
  ::closedir(listing);
  return names;
}

std::size_t open_descriptors() { return names_in("/proc/self/fd").size(); }

template <class Condition>
bool becomes_true(const Condition& condition, std::chrono::milliseconds patience = 10s) {
  const auto late = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > late) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// ---- Right results -----------------------------------------------------------------------------

TEST(ProcessTeam, EachIndexIsComputedOnceInOtherProcesses) {
  const SharedBoard board;
  for (const std::size_t width : {1U, 2U, 5U}) {
    ProcessTeam team(width);
    EXPECT_EQ(team.width(), width);
    for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U, 4096U}) {
      for (const std::size_t block : {0U, 1U, 64U, 5000U}) {
        for (auto& calls : board->calls) calls = 0;
        const Tally tally =
            team.run<compute_rows>(count, Rows{board.get(), count + width}, {.block = block});
        ASSERT_EQ(tally.accepted, count);
        ASSERT_EQ(tally.done, count);
        ASSERT_TRUE(tally.balanced());
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

TEST(ProcessTeam, RunsByManyThreadsTakeTurns) {
  const SharedBoard board;
  ProcessTeam team(2);
  std::vector<std::thread> users;
  std::atomic<int> wrong{0};
  for (std::uint64_t user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (std::size_t i = 0; i < test::rounds(50); ++i) {
        wrong += team.run<compute_rows>(100, Rows{board.get(), 7}).done != 100;
      }
    });
  }
  for (std::thread& user : users) user.join();
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
  try {
    (void)team.run<throw_at_multiples>(10, Rows{board.get(), 5}, {.block = 1});
    FAIL() << "it must throw";
  } catch (const KernelFailure& failure) {
    EXPECT_TRUE(std::string(failure.what()) == "row 0" || std::string(failure.what()) == "row 5");
  }
  EXPECT_EQ(team.tally().failed, 2U);
  EXPECT_EQ(team.tally().done, 8U);
  EXPECT_TRUE(team.lost().empty());
  EXPECT_EQ(team.run<compute_rows>(10, Rows{board.get(), 1}).done, 10U) << "usable afterwards";
}

void count_slowly(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    ++rows.board->calls[i];
    ++rows.board->ready;
    std::this_thread::sleep_for(1ms);
  }
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

// ---- Deaths ------------------------------------------------------------------------------------

// How the worker that gets index 3 ends, the first `times` times.
struct Deadly {
  Board* board;
  int times;
  void (*die)();
};
void die_at_three(IndexRange range, const Deadly& deadly) {
  for (const std::size_t i : range) {
    if (i == 3 && deadly.board->deaths.fetch_add(1) < deadly.times) deadly.die();
    deadly.board->rows[i] = row(1, i);
  }
}
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

TEST(ProcessTeam, ABlockWhoseWorkerEndsIsGivenAgain) {
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

TEST(ProcessTeam, ABlockThatEndsItsWorkersIsReportedAndTheRestIsDone) {
  const SharedBoard board;
  ProcessTeam team(2);
  for (const auto& [what, die] : ways_to_die) {
    for (auto& value : board->rows) value = 0;
    board->deaths = 0;
    EXPECT_THROW((void)team.run<die_at_three>(100, Deadly{board.get(), 1000, die}, {.block = 1}),
                 BlocksLost);
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

TEST(ProcessTeam, TriesAndReportSayHowOften) {
  const SharedBoard board;
  {
    ProcessTeam team{{.width = 2, .tries = 4}};
    EXPECT_THROW((void)team.run<die_at_three>(
                     8, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }}, {.block = 1}),
                 BlocksLost);
    EXPECT_EQ(board->deaths, 4);
  }
  board->deaths = 0;
  ProcessTeam team{{.width = 2, .on_crash = OnCrash::report}};
  EXPECT_THROW((void)team.run<die_at_three>(8, Deadly{board.get(), 1000, [] { ::raise(SIGKILL); }},
                                            {.block = 1}),
               BlocksLost);
  EXPECT_EQ(board->deaths, 1);
  EXPECT_EQ(team.tally().done, 7U);
}

TEST(ProcessTeam, ResetAllDoesAllBlocksAgain) {
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
               BlocksLost);
  EXPECT_EQ(team.tally().failed, 50U) << "no result stands without the others";
  EXPECT_EQ(board->deaths, 3);
  EXPECT_EQ(team.run<compute_rows>(100, Rows{board.get(), 3}).done, 100U);
}

// Workers are killed at any instant, 1 to 7 of 8, again and again.
TEST(ProcessTeam, KillsAtRandomCostNoRow) {
  const SharedBoard board;
  auto random = test::random();
  const std::size_t runs = test::deep() ? 1000 : 20;
  ProcessTeam team{{.width = 8, .tries = 15, .replacements_per_second = 10'000}};
  for (std::size_t run = 0; run < runs; ++run) {
    for (auto& value : board->rows) value = 0;
    const std::size_t kills = 1 + random() % 7;
    std::atomic<bool> over{false};
    std::thread killer([&, seed = random()] {
      std::mt19937_64 mine(seed);
      for (std::size_t i = 0; i < kills && !over; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(mine() % 1000));
        const std::vector<pid_t> alive = workers();
        if (!alive.empty()) ::kill(alive[mine() % alive.size()], SIGKILL);
      }
    });
    Tally tally;
    EXPECT_NO_THROW(tally = team.run<compute_rows>(Board::most, Rows{board.get(), run}));
    over = true;
    killer.join();
    ASSERT_EQ(tally.done, Board::most);
    expect_rows(*board, run, Board::most);
  }
}

TEST(ProcessTeam, AllWorkersDeadAtOnce) {
  const SharedBoard board;
  ProcessTeam team(4);
  for (int round = 0; round < 3; ++round) {
    board->ready = 0;
    for (auto& calls : board->calls) calls = 0;
    std::thread killer([&] {
      while (board->ready < 4) std::this_thread::yield();
      for (const pid_t worker : workers()) ::kill(worker, SIGKILL);
    });
    const Tally tally = team.run<count_slowly>(100, Rows{board.get(), 0}, {.block = 1});
    killer.join();
    EXPECT_EQ(tally.done, 100U);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_GE(board->calls[i], 1U);
    for (const pid_t worker : workers()) ::kill(worker, SIGKILL);  // between runs
  }
}

TEST(ProcessTeam, TheForkServerMayDieToo) {
  const SharedBoard board;
  ProcessTeam team(3);
  for (int round = 0; round < 3; ++round) {
    board->ready = 0;
    std::thread killer([&] {
      while (board->ready < 3) std::this_thread::yield();
      for (const pid_t server : servers_of(::getpid())) ::kill(server, SIGKILL);
    });
    const Tally tally = team.run<count_slowly>(100, Rows{board.get(), 0}, {.block = 1});
    killer.join();
    EXPECT_EQ(tally.done, 100U);
  }
}

void stop_once_at_three(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    if (i == 3 && rows.board->stops.fetch_add(1) < static_cast<int>(rows.factor)) ::raise(SIGSTOP);
    rows.board->rows[i] = row(1, i);
  }
}

TEST(ProcessTeam, AWorkerThatStandsStillIsKilledAtTheLimit) {
  const SharedBoard board;
  ProcessTeam team{{.width = 2, .limit = 300ms}};
  EXPECT_EQ(team.run<stop_once_at_three>(50, Rows{board.get(), 1}, {.block = 1}).done, 50U);
  expect_rows(*board, 1, 50);
  board->stops = 0;
  EXPECT_THROW((void)team.run<stop_once_at_three>(50, Rows{board.get(), 1000}, {.block = 1}),
               BlocksLost);
  ASSERT_EQ(team.lost().size(), 1U);
  EXPECT_EQ(team.lost()[0].end.text(), "killed at the limit");
  EXPECT_EQ(team.tally().done, 49U);
  // Stopped between runs, at no block.
  for (const pid_t worker : workers()) ::kill(worker, SIGSTOP);
  EXPECT_EQ(team.run<compute_rows>(50, Rows{board.get(), 2}).done, 50U);
  expect_rows(*board, 2, 50);
}

// ---- At each step of the protocol --------------------------------------------------------------

// Kills the worker that is the `at`th to pass a step.
class KillsAtStep final : public detail::TeamTap {
 public:
  struct Shared {
    std::atomic<int> passed;
    std::atomic<int> at;
    std::array<char, 16> step;
  };
  explicit KillsAtStep(Shared& shared) : shared_(shared) {}
  void at(const char* step, std::size_t) noexcept override {
    if (std::strcmp(step, shared_.step.data()) != 0) return;
    if (++shared_.passed == shared_.at) ::raise(SIGKILL);
  }

 private:
  Shared& shared_;
};

TEST(ProcessTeam, KilledAtEachStep) {
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

TEST(ProcessTeam, FewerWorkersOrAnError) {
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
    } catch (const ProcessTeamError& error) {
      EXPECT_EQ(error.step(), ProcessTeamStep::worker);
      EXPECT_EQ(error.code().value(), EAGAIN);
    }
    EXPECT_TRUE(servers_of(::getpid()).empty());
  }
  board->stops = 0;
  EXPECT_THROW(ProcessTeam({.width = 2, .tap = &tap}), ProcessTeamError);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ProcessTeam, AllDeadAndNoneToBeHadIsAnError) {
  const SharedBoard board;
  Refuses tap(board->stops);
  board->stops = 2;
  ProcessTeam team{{.width = 2, .tap = &tap}};
  std::thread killer([&] {
    while (board->ready < 10) std::this_thread::yield();
    for (const pid_t worker : workers()) ::kill(worker, SIGKILL);
  });
  EXPECT_THROW((void)team.run<count_slowly>(4000, Rows{board.get(), 0}, {.block = 1}),
               ProcessTeamError);
  killer.join();
  EXPECT_TRUE(team.tally().balanced());
  EXPECT_GT(team.tally().done, 0U);
  EXPECT_GT(team.tally().cancelled, 0U);
  EXPECT_THROW((void)team.run<compute_rows>(10, Rows{board.get(), 0}), ProcessTeamError);
  board->stops = 1000;
  EXPECT_EQ(team.run<compute_rows>(10, Rows{board.get(), 0}).done, 10U) << "they are back";
}

class DiesAtStart final : public detail::TeamTap {
 public:
  void at(const char* step, std::size_t) noexcept override {
    if (std::strcmp(step, "started") == 0) ::_exit(1);
  }
};

TEST(ProcessTeam, WorkersThatNeverWorkAreAnErrorAndNoLoop) {
  const SharedBoard board;
  DiesAtStart tap;
  ProcessTeam team{{.width = 2, .tap = &tap}};
  try {
    (void)team.run<compute_rows>(10, Rows{board.get(), 0});
    FAIL() << "it must throw";
  } catch (const ProcessTeamError& error) {
    EXPECT_EQ(error.step(), ProcessTeamStep::lives);
  }
  EXPECT_EQ(team.tally().cancelled, 10U);
}

// ---- What a worker is --------------------------------------------------------------------------

void look_around(IndexRange, const Rows& rows) {
  rows.board->rows[0] = open_descriptors();  // with that of the listing, `.` and `..`
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
    std::size_t standard = 0;
    for (const int number : {0, 1, 2}) standard += ::fcntl(number, F_GETFD) >= 0;
    EXPECT_EQ(board->rows[0], standard + 4) << "and that by which it tells the master";
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
  try {
    (void)team.run<run_within>(1, Nested{&team, board.get()});
    FAIL() << "it must throw";
  } catch (const KernelFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("from inside"), std::string::npos);
  }
}

TEST(ProcessTeam, OptionsThatCannotBeAreMisuse) {
  EXPECT_THROW(ProcessTeam({.width = 1025}), std::logic_error);
  EXPECT_THROW(ProcessTeam({.width = 1, .tries = 0}), std::logic_error);
  EXPECT_THROW(ProcessTeam({.width = 1, .tries = 16}), std::logic_error);
  EXPECT_THROW(ProcessTeam({.width = 1, .cpus = {-1}}), std::logic_error);
}

// ---- Ends --------------------------------------------------------------------------------------

TEST(ProcessTeam, NothingIsLeftBehind) {
  const SharedBoard board;
  const std::size_t before = open_descriptors();
  for (std::size_t round = 0; round < test::rounds(20); ++round) {
    std::vector<pid_t> there;
    {
      ProcessTeam team(3);
      EXPECT_EQ(team.run<compute_rows>(10, Rows{board.get(), 1}).done, 10U);
      there = workers();
      EXPECT_EQ(there.size(), 3U);
      std::ifstream maps("/proc/self/maps");
      for (std::string line; std::getline(maps, line);) {
        EXPECT_EQ(line.find("/dev/shm/"), std::string::npos) << "a name that could be left";
      }
      ProcessTeam moved(std::move(team));
      EXPECT_EQ(moved.run<compute_rows>(10, Rows{board.get(), 1}).done, 10U);
    }
    for (const pid_t worker : there) EXPECT_TRUE(has_ended(worker));
    EXPECT_TRUE(servers_of(::getpid()).empty());
    EXPECT_EQ(open_descriptors(), before);
  }
}

TEST(ProcessTeam, ItsEndIsTheEndOfStoppedWorkersToo) {
  std::vector<pid_t> there;
  {
    ProcessTeam team(2);
    there = workers();
    for (const pid_t worker : there) ::kill(worker, SIGSTOP);
  }
  for (const pid_t worker : there) EXPECT_TRUE(has_ended(worker));
}

// A thread that made a team may end; a program may ignore the ends of its children.
TEST(ProcessTeam, TheThreadThatMadeItMayEnd) {
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
    EXPECT_EQ(
        team->run<die_at_three>(50, Deadly{board.get(), 1, [] { ::raise(SIGKILL); }}, {.block = 1})
            .done,
        50U);
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

void sleep_long(IndexRange, const Rows& rows) {
  rows.board->first_worker = ::getpid();
  ++rows.board->ready;
  std::this_thread::sleep_for(60s);
}

TEST(ProcessTeam, WhenTheMasterIsKilledNoWorkerIsLeft) {
  for (std::size_t round = 0; round < (test::deep() ? 1000U : test::rounds(20)); ++round) {
    const SharedBoard board;
    const pid_t master = ::fork();
    ASSERT_GE(master, 0);
    if (master == 0) {
      ProcessTeam team(3);
      const std::vector<pid_t> its = workers();
      for (std::size_t i = 0; i < its.size(); ++i) {
        board->rows[i] = static_cast<std::uint64_t>(its[i]);
      }
      board->rows[3] = static_cast<std::uint64_t>(servers_of(::getpid()).front());
      // In every other round the workers are busy.
      if (round % 2 == 0) (void)team.run<sleep_long>(3, Rows{board.get(), 0}, {.block = 1});
      board->ready = 3;
      ::pause();
      ::_exit(0);
    }
    EXPECT_TRUE(becomes_true([&] { return board->ready >= 3; }));
    ::kill(master, SIGKILL);
    ::waitpid(master, nullptr, 0);
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_NE(board->rows[i], 0U);
      EXPECT_TRUE(becomes_true([&] { return has_ended(static_cast<pid_t>(board->rows[i])); },
                               1s * (test::sanitized ? 10 : 1)));
    }
  }
}

}  // namespace

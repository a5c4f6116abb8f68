// SPDX-License-Identifier: MIT
//
// The master of worker processes, by way of both its faces, ProcessTeam and ProcessPool: whatever
// dies, stands still or cannot be had, and whenever, each piece of work is done, or lost and said
// to be.
#include "support/test.hpp"
#include "unit/process/out_of_memory.hpp"
#include "unit/process/team_support.hpp"

namespace process_master_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace team_support;

// ---- The two faces -----------------------------------------------------------------------------

// What both are told.
struct Workers {
  std::size_t width = 2;
  std::vector<int> cpus = {};
  std::uint32_t tries = 2;
  std::chrono::nanoseconds limit{0};
  std::uint32_t rate = 100;
  OnFewerWorkers on_fewer = OnFewerWorkers::accept;
  bool recycles = false;  // a pool, after three jobs
  detail::TeamTap* tap = nullptr;
};

// A row to be computed, after a pause. Row 3 ends its worker before that, `times` times.
struct Piece {
  Board* board = nullptr;
  std::uint64_t factor = 1;
  std::chrono::microseconds pause{0};
  int times = 0;
  void (*end)() = nullptr;
};
void do_piece(const Piece& piece, std::size_t index) {
  ++piece.board->ready;
  if (index == 3 && piece.board->deaths.fetch_add(1) < piece.times) piece.end();
  piece.board->rows[index] = 0;  // half a row, for a moment
  if (piece.pause > 0us) std::this_thread::sleep_for(piece.pause);
  piece.board->rows[index] = row(piece.factor, index);
}

struct Outcome {
  struct Lost {
    std::size_t index;
    std::string end;
    std::uint32_t attempts;
  };
  std::size_t done = 0;
  std::vector<Lost> lost;
  std::error_code error;
  std::string what;  // of that error
};

class Team {
 public:
  static constexpr std::array steps{"started", "claimed", "computed", "over", "told"};

  explicit Team(const Workers& of)
      : team_({.width = of.width,
               .cpus = of.cpus,
               .tries = of.tries,
               .limit = of.limit,
               .replacements_per_second = of.rate,
               .on_fewer = of.on_fewer,
               .tap = of.tap}) {}

  std::size_t width() const { return team_.width(); }
  Outcome do_all(std::size_t count, const Piece& piece) {
    Outcome outcome;
    try {
      (void)team_.run<do_block>(count, piece, {.block = 1});
    } catch (const WorkFailed&) {
    } catch (const std::system_error& error) {
      outcome.error = error.code();
      outcome.what = error.what();
    }
    outcome.done = team_.tally().done;
    for (const LostWork& lost : team_.lost()) {
      outcome.lost.push_back({lost.indices.first, lost.end.text(), lost.attempts});
    }
    EXPECT_TRUE(team_.tally().balanced());
    EXPECT_EQ(team_.tally().failed, outcome.lost.size());
    return outcome;
  }

 private:
  static void do_block(IndexRange range, const Piece& piece) {
    for (const std::size_t i : range) do_piece(piece, i);
  }

  ProcessTeam team_;
};

class Pool {
 public:
  static constexpr std::array steps{"started", "claimed", "computed", "over", "told", "retired"};

  explicit Pool(const Workers& of)
      : pool_({.width = of.width,
               .cpus = of.cpus,
               .tries = of.tries,
               .limit = of.limit,
               .recycle_after = of.recycles ? 3U : 0U,
               .replacements_per_second = of.rate,
               .on_fewer = of.on_fewer,
               .tap = of.tap}) {}

  std::size_t width() const { return pool_.width(); }
  Outcome do_all(std::size_t count, const Piece& piece) {
    std::vector<Future<void>> futures;
    for (std::size_t i = 0; i < count; ++i) futures.push_back(pool_.submit<do_job>(Job{piece, i}));
    Outcome outcome;
    for (std::size_t i = 0; i < count; ++i) {
      try {
        futures[i].get();
        ++outcome.done;
      } catch (const WorkFailed& failed) {
        const LostWork& lost = failed.lost();
        outcome.lost.push_back({i, lost.end.text(), lost.attempts});
      } catch (const std::system_error& error) {
        outcome.error = error.code();
        outcome.what = error.what();
      }
    }
    return outcome;
  }

 private:
  struct Job {
    Piece piece;
    std::size_t index;
  };
  static void do_job(const Job& job) { do_piece(job.piece, job.index); }

  ProcessPool pool_;
};

template <class Face>
class ProcessMaster : public testing::Test {
 protected:
  // All are done, and right.
  void expect_done(Face& face, std::size_t count, Piece piece) const {
    board_->rows.fill(~std::uint64_t{0});
    board_->ready = 0;
    board_->deaths = 0;
    piece.board = board_.get();
    const Outcome outcome = face.do_all(count, piece);
    EXPECT_EQ(outcome.done, count);
    EXPECT_TRUE(outcome.lost.empty());
    EXPECT_FALSE(outcome.error) << outcome.what;
    expect_rows(*board_, piece.factor, count);
  }
  // All but row 3 are, which has ended `tries` workers.
  void expect_lost(Face& face, std::size_t count, void (*end)(), const std::string& how,
                   std::uint32_t tries) const {
    board_->rows.fill(~std::uint64_t{0});
    board_->deaths = 0;
    const Outcome outcome =
        face.do_all(count, {.board = board_.get(), .times = 1'000'000, .end = end});
    EXPECT_EQ(outcome.done, count - 1);
    ASSERT_EQ(outcome.lost.size(), 1U);
    EXPECT_EQ(outcome.lost[0].index, 3U);
    EXPECT_EQ(outcome.lost[0].end, how);
    EXPECT_EQ(outcome.lost[0].attempts, tries);
    EXPECT_EQ(board_->deaths, static_cast<int>(tries));
    board_->rows[3] = row(1, 3);
    expect_rows(*board_, 1, count);
  }

  const SharedBoard board_;
};
using Faces = testing::Types<Team, Pool>;
TYPED_TEST_SUITE(ProcessMaster, Faces);

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

TYPED_TEST(ProcessMaster, WhatEndsItsWorkerIsGivenAgainAndLostAfterItsTries) {
  TypeParam face{Workers{}};
  for (const auto& [what, die] : ways_to_die) {
    SCOPED_TRACE(what);
    this->expect_done(face, 100, {.times = 1, .end = die});
    EXPECT_EQ(this->board_->deaths, 2) << "it was done again";
    this->expect_lost(face, 100, die, what, 2);
  }
}

// A spare may have ended at its first piece before the server has heard that it was hired.
TYPED_TEST(ProcessMaster, EachDeathHasItsReasonHoweverSoonItComes) {
  for (std::size_t round = 0; round < test::rounds(20); ++round) {
    TypeParam face{Workers{.width = 1 + round % 3}};
    for (std::size_t i = 0; i < 20; ++i) {
      const auto& [what, die] = ways_to_die[i % std::size(ways_to_die)];
      this->expect_lost(face, 4, die, what, 2);
    }
  }
}

TYPED_TEST(ProcessMaster, TriesSayHowOften) {
  for (const std::uint32_t tries : {1U, 4U}) {
    TypeParam face{Workers{.tries = tries}};
    this->expect_lost(face, 8, [] { ::raise(SIGKILL); }, "killed by signal 9", tries);
  }
}

TYPED_TEST(ProcessMaster, LackOfMemoryIsADeathAsOthers) {
  const test::SmallGroup group;
  const auto ways = test::ways_to_run_out_of_memory(group);
  if (ways.empty()) GTEST_SKIP() << "a sanitizer, and no memory cgroup may be made";
  TypeParam face{Workers{}};
  for (const auto& [what, die] : ways) {
    SCOPED_TRACE(what);
    this->expect_done(face, 25, {.times = 1, .end = die});
    EXPECT_EQ(this->board_->deaths, 2) << "it was done again";
    this->expect_lost(face, 25, die, what, 2);
  }
}

// Kills at most `kills` workers, now and then; which and when follows from the seed.
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

  // How many it has killed.
  std::size_t stop() {
    over_ = true;
    thread_.join();
    return killed_;
  }

 private:
  std::atomic<bool> over_{false};
  std::size_t killed_ = 0;
  std::thread thread_;
};

// 1 to 7 of 8, again and again.
TYPED_TEST(ProcessMaster, KillsAtRandomCostNothing) {
  const std::size_t runs = test::deep() ? 1000 : test::slow ? 30 : 200;
  TypeParam face{Workers{.width = 8, .tries = 15, .rate = 10'000}};
  auto random = test::random();
  std::size_t killed = 0;
  for (std::size_t run = 0; run < runs && !this->HasFailure(); ++run) {
    Killer killer(1 + random() % 7, random());
    this->expect_done(face, 128, {.factor = run, .pause = 100us});
    killed += killer.stop();
  }
  EXPECT_GT(killed, 0U) << "each run was over before anything was killed: nothing was tried";
}

// A worker of a server that was just killed may take a piece before it dies.
TYPED_TEST(ProcessMaster, AllWorkersAndTheForkServerMayDie) {
  TypeParam face{Workers{.width = 4, .tries = 15}};
  for (const int which : {1, 2, 3, 1, 2, 3}) {
    const auto kill_all = [which] {
      if ((which & 1) != 0) signal_workers(SIGKILL);
      if ((which & 2) != 0) signal_server(SIGKILL);
    };
    {
      this->board_->ready = 0;
      const Beside killer(this->board_, 4, kill_all);
      this->expect_done(face, 100, {.pause = 1ms});
    }
    kill_all();  // between two pieces of work
    this->expect_done(face, 100, {.factor = 2});
  }
}

// ---- Nothing hangs -----------------------------------------------------------------------------

constexpr std::chrono::milliseconds kLimit{test::slow ? 200 : 100};

// A healthy worker may be late too, on a busy machine: so there are more tries than one, and what
// is not done is lost and said to be.
TYPED_TEST(ProcessMaster, AWorkerThatStandsStillIsKilledAtTheLimit) {
  const auto stop = [] { ::raise(SIGSTOP); };
  {
    TypeParam face{Workers{.tries = 15, .limit = kLimit}};
    this->expect_done(face, 50, {.times = 1, .end = stop});
    signal_workers(SIGSTOP);  // all of them, at nothing
    this->expect_done(face, 50, {.factor = 2});
  }
  TypeParam face{Workers{.limit = kLimit}};
  this->board_->deaths = 0;
  const Outcome outcome =
      face.do_all(50, {.board = this->board_.get(), .times = 1'000'000, .end = stop});
  EXPECT_EQ(outcome.done + outcome.lost.size(), 50U);
  EXPECT_TRUE(std::any_of(outcome.lost.begin(), outcome.lost.end(),
                          [](const Outcome::Lost& lost) { return lost.index == 3; }));
  for (const Outcome::Lost& lost : outcome.lost) EXPECT_EQ(lost.end, "killed at the limit");
}

// One that is stopped between two pieces keeps none from the others, without any limit.
TYPED_TEST(ProcessMaster, AStoppedWorkerHoldsUpNoOther) {
  TypeParam face{Workers{}};
  ::kill(workers().front(), SIGSTOP);
  for (std::uint64_t i = 0; i < 20; ++i) {
    this->expect_done(face, 10, {.factor = i});
    if (i % 5 == 0) std::this_thread::sleep_for(1ms);  // so that the other one sleeps, too
  }
}

// ---- At each step of the protocol --------------------------------------------------------------

TYPED_TEST(ProcessMaster, KilledAtEachStep) {
  const team_support::Shared<KillsAtStep::Shared> in_memory;
  KillsAtStep::Shared& shared = *in_memory;
  KillsAtStep tap(shared);
  for (const char* const step : TypeParam::steps) {
    const bool is_in_work =
        step == std::string_view("claimed") || step == std::string_view("computed");
    const int most = is_in_work ? (test::slow ? 5 : 20) : 2;
    for (int at = 1; at <= most; ++at) {
      SCOPED_TRACE(testing::Message() << step << ' ' << at);
      std::strncpy(shared.step.data(), step, shared.step.size() - 1);
      shared.passed = 0;
      shared.at = at;
      TypeParam face{Workers{.recycles = true, .tap = &tap}};
      this->expect_done(face, 20, {.factor = 5});
      this->expect_done(face, 20, {.factor = 6});
      EXPECT_TRUE(becomes_true([&] { return shared.passed >= at; })) << "never came there";
    }
    std::printf("a worker was killed at \"%s\", the first %d times\n", step, most);
  }
}

// ---- Workers that cannot be had ----------------------------------------------------------------

class Refuses final : public detail::TeamTap {
 public:
  explicit Refuses(std::atomic<int>& left) : left_(left) {}
  int before_start(std::size_t) noexcept override { return left_.fetch_sub(1) <= 0 ? EAGAIN : 0; }

 private:
  std::atomic<int>& left_;  // how many may start; in memory that all processes have
};

TYPED_TEST(ProcessMaster, WithoutItsKthWorkerIsAnErrorOrHasFewer) {
  Refuses tap(this->board_->stops);
  const auto before = open_descriptors();
  constexpr int width = 4;
  for (int k = 0; k <= width; ++k) {
    SCOPED_TRACE(k);
    for (const OnFewerWorkers on_fewer : {OnFewerWorkers::refuse, OnFewerWorkers::accept}) {
      this->board_->stops = k;
      const bool fits = k == width || (k > 0 && on_fewer == OnFewerWorkers::accept);
      try {
        TypeParam face{Workers{.width = width, .on_fewer = on_fewer, .tap = &tap}};
        EXPECT_TRUE(fits);
        EXPECT_EQ(face.width(), static_cast<std::size_t>(k));
        this->expect_done(face, 100, {});
      } catch (const std::system_error& error) {
        EXPECT_FALSE(fits);
        EXPECT_NE(std::string(error.what()).find("start one"), std::string::npos);
        EXPECT_EQ(error.code().value(), EAGAIN);
      }
      EXPECT_TRUE(servers_of(::getpid()).empty());
      EXPECT_EQ(open_descriptors(), before);
    }
  }
}

TYPED_TEST(ProcessMaster, AllDeadAndNoneToBeHadIsAnErrorAndTheyMayComeBack) {
  for (const bool server_too : {false, true}) {
    Refuses tap(this->board_->stops);
    this->board_->stops = 2;
    TypeParam face{Workers{.tap = &tap}};
    Outcome outcome;
    {
      this->board_->ready = 0;
      const Beside killer(this->board_, 10, [server_too] {
        signal_workers(SIGKILL);
        if (server_too) signal_server(SIGKILL);
      });
      outcome = face.do_all(2000, {.board = this->board_.get(), .pause = 1ms});
    }
    EXPECT_GT(outcome.done, 0U);
    EXPECT_LT(outcome.done, 2000U);
    for (const std::size_t count : {0U, 10U}) {
      if (count != 0) outcome = face.do_all(count, {.board = this->board_.get()});
      EXPECT_EQ(outcome.error.value(), EAGAIN);
      EXPECT_NE(outcome.what.find("start one"), std::string::npos) << outcome.what;
    }
    EXPECT_EQ(outcome.done, 0U);
    this->board_->stops = 1000;
    this->expect_done(face, 10, {.factor = 3});
  }
}

class DiesAtStart final : public detail::TeamTap {
 public:
  void at(const char* step, std::size_t) noexcept override {
    if (std::strcmp(step, "started") == 0) ::_exit(1);
  }
};

TYPED_TEST(ProcessMaster, WorkersThatNeverWorkAreAnErrorAndNoLoop) {
  DiesAtStart tap;
  TypeParam face{Workers{.rate = 1000, .tap = &tap}};
  for (int i = 0; i < (test::slow ? 1 : 2); ++i) {
    const Outcome outcome = face.do_all(10, {.board = this->board_.get()});
    EXPECT_EQ(outcome.done, 0U);
    EXPECT_EQ(outcome.error.value(), ECHILD);
    EXPECT_NE(outcome.what.find("all end"), std::string::npos) << outcome.what;
  }
}

TYPED_TEST(ProcessMaster, OptionsThatCannotBeAreMisuse) {
  for (const Workers& wrong : {Workers{.width = 1025}, Workers{.cpus = {-1}}, Workers{.tries = 0},
                               Workers{.tries = 16}, Workers{.limit = -1ms}, Workers{.rate = 0}}) {
    EXPECT_THROW(TypeParam{wrong}, std::logic_error);
  }
}

// ---- Ends --------------------------------------------------------------------------------------

TYPED_TEST(ProcessMaster, NothingIsLeftBehind) {
  const auto before = open_descriptors();
  for (std::size_t round = 0; round < test::rounds(20) + 1; ++round) {
    std::vector<pid_t> there;
    {
      TypeParam face{Workers{.width = 3}};
      this->expect_done(face, 10, {});
      there = workers();
      EXPECT_EQ(there.size(), 3U);
      std::ifstream maps("/proc/self/maps");
      for (std::string line; std::getline(maps, line);) {
        EXPECT_EQ(line.find("/dev/shm/"), std::string::npos) << "a name that could be left";
      }
      if (round == 0) signal_workers(SIGSTOP);
    }
    for (const pid_t worker : there) EXPECT_TRUE(has_ended(worker));
    EXPECT_TRUE(servers_of(::getpid()).empty());
    EXPECT_EQ(open_descriptors(), before);
  }
}

}}  // namespace process_master_test

// SPDX-License-Identifier: MIT
//
// ProcessTeam with workers of another program: right results, each way in which such a program will
// not do, deaths, and programs that are replaced.
#include "process/worker_hello.hpp"
#include "support/test.hpp"
#include "unit/process/master_support.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/team_support.hpp"
#include "unit/process/worker_support.hpp"
#include "unit/process/worker_work.hpp"

namespace worker_program_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using team_support::becomes_true;
using worker_work::Copy;
using namespace worker_support;
using namespace test;

// A script that runs the worker program as something, and may be replaced.
class Script {
 public:
  explicit Script(const std::string& what) { becomes(what); }

  void becomes(const std::string& what) const {
    write("#!/bin/sh\nexec '" + worker_file() + "' " + what + "\n", 0700);
  }
  void write(const std::string& text, mode_t mode) const {
    std::filesystem::rename(folder_.file("next", text, mode), file());
  }
  void remove() const { std::filesystem::remove(file()); }
  [[nodiscard]] std::string file() const { return folder_.at("worker"); }

 private:
  subprocess_support::Folder folder_;
};

// Those that are the worker program by now.
std::vector<pid_t> programs_of(pid_t process) {
  return team_support::children_of(process, "handoff_worker_");
}
void kill_programs() {
  for (const pid_t one : team_support::children_of(::getpid())) ::kill(one, SIGKILL);
}

// ---- Right results -----------------------------------------------------------------------------

TEST(WorkerProgram, EachRowIsComputedByAProgramThatWasBuiltApart) {
  const Table table;
  const std::size_t before = open_descriptors().size();
  for (const std::size_t width : {1U, 3U}) {
    ProcessTeam team{{.width = width, .program = worker("works")}};
    EXPECT_EQ(team.width(), width);
    EXPECT_EQ(programs_of(::getpid()).size(), width);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, kRows}) {
      ASSERT_EQ(team.run("rows", count, table.work(count + width)).done, count);
      table.expect_rows(count + width, count);
      const std::size_t fewer = std::min<std::size_t>(count, 50);  // each of them sleeps
      ASSERT_EQ(team.run("slow", fewer, table.work(count + width + 1)).done, fewer);
      table.expect_rows(count + width + 1, fewer);
    }
  }
  EXPECT_TRUE(programs_of(::getpid()).empty());
  {
    ProcessTeam team{{.width = 2, .program = worker("works")}};
  }
  EXPECT_LE(open_descriptors().size(), before) << "but for those of the first start of all";
}

TEST(WorkerProgram, WhatItThrowsComesOver) {
  const Table table;
  ProcessTeam team{{.width = 2, .program = worker("works")}};
  const auto run = [&] { return team.run("throw", 10, table.work(0)); };
  EXPECT_STREQ(test::caught<WorkFailed>(run).value().what(), "no row today");
  EXPECT_EQ(team.tally().failed, 10U);
  EXPECT_EQ(team.run("rows", kRows, table.work(5)).done, kRows);
}

TEST(WorkerProgram, HasNoDescriptorsButItsOwn) {
  const Table table;
  const int open_here = ::dup(0);
  {
    ProcessTeam team{{.width = 1, .program = worker("works")}};
    (void)team.run("look", 1, table.work(0));
    // Streams, event, asks, and the two memories that it was handed.
    EXPECT_EQ(table.notes().descriptors, 3U + 2U + 1U);
  }
  ::close(open_here);
}

TEST(WorkerProgram, StartedByHandItSaysThatItHasNoTeam) {
  EXPECT_EQ(Subprocess::start(worker("works")).wait().code, 2);
  const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(Subprocess::start(worker("works"), {.descriptors = {{file, 3}}}).wait().code, 2);
  ::close(file);
}

// ---- Programs that will not do -----------------------------------------------------------------

// Where no worker can be started.
template <class Call>
std::system_error refusal_within(std::chrono::seconds most, const Call& call) {
  const auto began = std::chrono::steady_clock::now();
  const std::system_error error = test::caught<std::system_error>(call).value();
  EXPECT_LT(std::chrono::steady_clock::now() - began, most);
  EXPECT_TRUE(says(error, "start one")) << error.what();
  return error;
}
std::system_error refusal_of(const ProcessTeamOptions& options) {
  const auto make = [&] { return ProcessTeam(options).width(); };
  const std::system_error error = refusal_within(60s, make);
  EXPECT_TRUE(programs_of(::getpid()).empty());
  EXPECT_TRUE(says(error, options.program.front().c_str())) << error.what();
  return error;
}
int error_of(const ProcessTeamOptions& options) { return refusal_of(options).code().value(); }

TEST(WorkerProgram, WhatCannotBeRunIsRefusedWithTheReason) {
  const Script script("works");
  const std::size_t before = open_descriptors().size();
  const ProcessTeamOptions options{.width = 3, .program = {script.file()}};
  script.write("#!/bin/sh\n", 0600);
  EXPECT_EQ(error_of(options), EACCES);
  script.write("no program\n", 0700);
  EXPECT_EQ(error_of(options), ENOEXEC);
  script.write("#!/no/such/interpreter\n", 0700);
  EXPECT_EQ(error_of(options), ENOENT);
  script.remove();
  const std::system_error none = refusal_of(options);
  EXPECT_EQ(none.code().value(), ENOENT);
  EXPECT_TRUE(says(none, ": run: ")) << none.what();
  EXPECT_EQ(error_of({.width = 2, .program = {""}}), ENOENT);
  EXPECT_EQ(error_of({.width = 2, .program = {std::string("ab\0", 3)}}), EINVAL);
  EXPECT_LE(open_descriptors().size(), before + 2) << "but for the thread that starts children";
}

struct Wrong {
  const char* what;
  int error;
  const char* text;
};

TEST(WorkerProgram, WhatIsNoWorkerIsRefusedWithTheReason) {
  constexpr Wrong all[] = {
      {"exits", ECHILD, "exited with 3"},
      {"crashes", ECHILD, "signal 9"},
      {"closes", EPROTO, "closed its descriptor 3"},
      {"garbage", EPROTO, "something else"},
      {"short", EPROTO, "something else"},
      {"version", EPROTO, "protocol is 99"},
      {"layout", EPROTO, "another layout"},
      {"cut", EPROTO, "cut short"},
      {"nameless", EPROTO, "without a right name"},
      {"leaves", ECHILD, "exited with 4"},
      {"cannot", ENOMEM, "could not map"},
      {"babbles", EPROTO, "something else"},
      {"gives", ENOMEM, "could not map"},  // and descriptors that nobody wants
  };
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.what);
    const auto open = open_descriptors();
    const std::system_error refusal = refusal_of({.width = 2, .program = worker(wrong.what)});
    EXPECT_EQ(refusal.code().value(), wrong.error) << refusal.what();
    EXPECT_TRUE(says(refusal, wrong.text)) << refusal.what();
    EXPECT_EQ(open_descriptors(), open);
  }
}

TEST(WorkerProgram, WhatSaysNothingIsRefusedAtTheLimit) {
  for (const char* const what : {"waits", "stays"}) {
    const std::system_error refusal =
        refusal_of({.width = 3, .program = worker(what), .start_limit = 100ms});
    EXPECT_EQ(refusal.code().value(), ETIMEDOUT);
    EXPECT_TRUE(says(refusal, "100 ms") && says(refusal, "start_limit")) << refusal.what();
  }
}

// Refuses the workers of some slots.
class RefusesSlot final : public detail::TeamTap {
 public:
  explicit RefusesSlot(std::size_t from) : from_(from) {}
  int before_start(std::size_t slot) noexcept override { return slot >= from_ ? EAGAIN : 0; }

 private:
  std::size_t from_;
};

TEST(WorkerProgram, FewerWillDoIfTheyMay) {
  const Table table;
  RefusesSlot one(1);
  ProcessTeam team{{.width = 3, .program = worker("works"), .tap = &one}};
  EXPECT_EQ(team.run("rows", kRows, table.work(1)).done, kRows);
  table.expect_rows(1, kRows);
  EXPECT_THROW(ProcessTeam({.width = 3,
                            .program = worker("works"),
                            .on_fewer = OnFewerWorkers::refuse,
                            .tap = &one}),
               std::system_error);
  EXPECT_EQ(programs_of(::getpid()).size(), 1U);
}

// ---- Kernels -----------------------------------------------------------------------------------

void set_by_span(IndexRange range, const Work& work) {
  for (const std::size_t i : range) work.rows.get()[i] = row(work.factor, i);
}

struct Other {
  std::array<std::uint64_t, 3> numbers;
};
struct Later {
  static constexpr std::uint64_t layout = 3;
  SharedSpan<const std::uint64_t> from;
  SharedSpan<std::uint64_t> to;
};

TEST(WorkerProgram, AKernelThatItHasNotIsRefusedBeforeAnythingRuns) {
  const Table table;
  ProcessTeam team{{.width = 1, .program = worker("works")}};
  const auto expect_refused = [&](const char* kernel, const auto& arguments, int expected,
                                  const char* words) {
    const auto run = [&] { return team.run(kernel, 10, arguments); };
    const std::system_error error = test::caught<std::system_error>(run).value();
    EXPECT_EQ(error.code().value(), expected);
    EXPECT_TRUE(says(error, words)) << error.what();
  };
  expect_refused("sharpen", table.work(0), ENOENT, "but \"rows\", \"slow\"");
  expect_refused("rows", Other{}, EPROTO, "than here (24 bytes");
  expect_refused("copy", Later{}, EPROTO, "of layout 3");
  EXPECT_EQ(table.notes().version, 0U);
  EXPECT_EQ(team.run("rows", kRows, table.work(1)).done, kRows);
}

TEST(WorkerProgram, WrongKindsOfRunsAreMisuse) {
  const Table table;
  ProcessTeam forks(1);
  ProcessTeam programs{{.width = 1, .program = worker("works")}};
  EXPECT_THROW((void)forks.run("rows", 1, table.work(0)), std::logic_error);
  EXPECT_THROW((void)programs.run<set_by_span>(1, table.work(0)), std::logic_error);
  EXPECT_THROW(ProcessTeam({.program = worker("works"), .start_limit = 0ns}), std::logic_error);
  EXPECT_THROW((void)programs.run("", 1, table.work(0)), std::logic_error);
  EXPECT_THROW((void)programs.run("two words", 1, table.work(0)), std::logic_error);
  EXPECT_THROW((void)programs.run(std::string(48, 'x'), 1, table.work(0)), std::logic_error);
}

// ---- Deaths ------------------------------------------------------------------------------------

TEST(WorkerProgram, ABlockThatEndsItsWorkersIsGivenAgainOrLost) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, 0}) {
    const Table table;
    ProcessTeam team{{.width = 2, .program = worker("works")}};
    Work work = table.work(6);
    work.deaths = 1;
    work.signal = signal;
    EXPECT_EQ(team.run("rows", kRows, work, {.block = 1}).done, kRows);
    EXPECT_EQ(table.notes().deaths, 1U);
    table.expect_rows(6, kRows);
    work.deaths = 100;
    EXPECT_THROW((void)team.run("rows", kRows, work, {.block = 1}), WorkFailed);
    EXPECT_EQ(team.tally().done, kRows - 1);
    ASSERT_EQ(team.lost().size(), 1U);
    EXPECT_EQ(team.lost()[0].indices.first, 3U);
    const std::string how =
        signal == 0 ? "exited with 7" : "killed by signal " + std::to_string(signal);
    EXPECT_EQ(team.lost()[0].end.text(), how);
  }
}

TEST(WorkerProgram, AWorkerThatHangsIsKilledAtTheLimit) {
  const Table table;
  ProcessTeam team{{.width = 2, .program = worker("works"), .limit = 300ms}};
  Work work = table.work(6);
  work.deaths = 1;
  EXPECT_EQ(team.run("hang", kRows, work, {.block = 1}).done, kRows);
  table.expect_rows(6, kRows);
}

TEST(WorkerProgram, AllAgainEndsThemAll) {
  const Table table;
  ProcessTeam team{{.width = 2, .program = worker("works"), .on_crash = OnCrash::reset_all}};
  Work work = table.work(6);
  work.deaths = 1;
  work.signal = SIGKILL;
  EXPECT_EQ(team.run("rows", kRows, work).done, kRows);
  table.expect_rows(6, kRows);
}

TEST(WorkerProgram, KilledAtRandomEachRowIsRight) {
  const Table table;
  ProcessTeam team{{.width = 4, .program = worker("works"), .tries = 15}};
  for (std::uint64_t round = 0; round < test::rounds(10); ++round) {
    table.notes().ready = 0;
    const std::jthread killer([&] {
      for (int i = 0; i < 3; ++i) {
        (void)becomes_true([&] { return table.notes().ready > static_cast<unsigned>(20 * i); }, 1s);
        const std::vector<pid_t> all = programs_of(::getpid());
        if (!all.empty()) ::kill(all[round % all.size()], SIGKILL);
      }
    });
    EXPECT_EQ(team.run("slow", 200, table.work(round), {.block = 1}).done, 200U);
    table.expect_rows(round, 200);
  }
}

TEST(WorkerProgram, AllDeadBetweenRunsAreReplaced) {
  const Table table;
  ProcessTeam team{{.width = 3, .program = worker("works")}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    kill_programs();
    EXPECT_EQ(team.run("rows", kRows, table.work(i)).done, kRows);
    table.expect_rows(i, kRows);
  }
}

TEST(WorkerProgram, EndsWithItsMasterBehindAShellToo) {
  const Script script("works");
  script.write("#!/bin/sh\n'" + worker_file() + "' works\nexit 1\n", 0700);
  const test::SharedName early;
  const test::SharedName late;
  master_support::Master master("killed_master",
                                script.file() + " idle " + early.text() + ' ' + late.text(), true);
  ASSERT_TRUE(master.is_ready());
  (void)master.expect_nothing_left(8);  // with three shells, their workers, and the keeper
}

// ---- Programs that are replaced ----------------------------------------------------------------

TEST(WorkerProgram, OneThatWasUpdatedIsUsedForTheNextStart) {
  const Table table;
  const Script script("works");
  ProcessTeam team{{.width = 2, .program = {script.file()}}};
  (void)team.run("rows", kRows, table.work(1));
  EXPECT_EQ(table.notes().version, 1U);
  script.becomes("updated");
  (void)team.run("rows", kRows, table.work(2));
  EXPECT_EQ(table.notes().version, 1U) << "these are still the old ones";
  kill_programs();
  EXPECT_EQ(team.run("rows", kRows, table.work(3)).done, kRows);
  EXPECT_EQ(table.notes().version, 2U);
  table.expect_rows(3, kRows);
}

TEST(WorkerProgram, AnUpdateThatDoesNotFitIsAnErrorOnceNoOtherWorkerIsLeft) {
  const Table table;
  const Script script("works");
  ProcessTeam team{{.width = 2, .program = {script.file()}, .start_limit = 2s}};
  const auto expect_refused = [&](const char* words) {
    const auto run = [&] { return team.run("rows", kRows, table.work(1)); };
    const std::system_error error = refusal_within(30s, run);
    EXPECT_EQ(team.tally().cancelled, kRows);
    EXPECT_TRUE(says(error, words)) << error.what();
  };
  for (const auto& [what, text] :
       {std::pair{"fewer", "has no kernel \"slow\""}, std::pair{"other", "takes for its kernel"},
        std::pair{"exits", "exited with 3"}, std::pair{"version", "protocol is 99"},
        std::pair{"waits", "start_limit"}}) {
    SCOPED_TRACE(what);
    // Each takes as long as a team waits before it gives up.
    if (!test::deep() && std::string_view(what) != "fewer") continue;
    script.becomes(what);
    kill_programs();
    expect_refused(text);
    script.becomes("works");
    EXPECT_EQ(team.run("rows", kRows, table.work(4)).done, kRows) << "in order again";
  }
  // Where a shell has begun and its script is gone, it says so in the output of the tests.
  (void)becomes_true([] { return programs_of(::getpid()).size() == 2; }, 1s);
  script.remove();
  kill_programs();
  expect_refused(": run: ");
}

TEST(WorkerProgram, AnUpdateThatDoesNotFitStopsNoOtherWorker) {
  const Table table;
  const Script script("works");
  ProcessTeam team{{.width = 3, .program = {script.file()}}};
  script.becomes("exits");
  const std::vector<pid_t> all = programs_of(::getpid());
  ASSERT_EQ(all.size(), 3U);
  ::kill(all[0], SIGKILL);
  ::kill(all[2], SIGKILL);
  EXPECT_EQ(team.run("slow", kRows, table.work(1), {.block = 1}).done, kRows);
  table.expect_rows(1, kRows);
}

// ---- The hello ---------------------------------------------------------------------------------

TEST(WorkerProgram, AHelloOfAnyBytesIsRefusedWithoutBeingReadBeyondItsEnd) {
  auto random = test::random();
  detail::WorkerHello right;
  right.count = 2;
  right.kernels[0] = detail::KernelSignature::of<Work>("rows");
  right.kernels[1] = detail::KernelSignature::of<Copy>("copy");
  const std::size_t bytes = detail::WorkerHello::bytes_for(2);
  const std::vector<detail::KernelSignature> wanted(right.kernels.begin(),
                                                    right.kernels.begin() + 2);
  EXPECT_EQ(detail::fault_of(right, bytes, wanted), "");
  for (std::size_t i = 0; i < test::rounds(100'000); ++i) {
    detail::WorkerHello hello = right;
    auto* const raw = reinterpret_cast<unsigned char*>(&hello);
    for (unsigned flips = 1 + static_cast<unsigned>(random() % 3); flips != 0; --flips) {
      raw[random() % bytes] ^= static_cast<unsigned char>(1U << (random() % 8));
    }
    if (std::memcmp(&hello, &right, bytes) == 0) continue;
    if (detail::fault_of(hello, bytes, wanted).empty()) {
      // Behind the end of a name it may have anything.
      ASSERT_EQ(hello.kernels[0], right.kernels[0]);
      ASSERT_EQ(hello.kernels[1], right.kernels[1]);
    }
  }
  for (std::size_t cut = 0; cut < bytes; ++cut) {
    EXPECT_NE(detail::fault_of(right, cut, wanted), "");
  }
  // Of as many kernels as there can be, with no zero behind any name.
  right.count = detail::WorkerHello::most_kernels;
  std::memset(static_cast<void*>(&right.kernels), 'x', sizeof right.kernels);
  EXPECT_NE(detail::fault_of(right, sizeof right, wanted), "");
}

}}  // namespace worker_program_test

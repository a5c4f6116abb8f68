// SPDX-License-Identifier: MIT
//
// Processes where the surroundings are narrow: standard streams that the program has closed, and
// fewer places for processes than were asked for.
#include <sys/prctl.h>

#include "support/test.hpp"
#include "unit/process/control_group.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/worker_support.hpp"

namespace process_surroundings_test { namespace {

using namespace handoff;
using subprocess_support::RoleEntry;
using subprocess_support::run_role;

struct Number {
  std::uint64_t value;
};

// ---- Closed streams ----------------------------------------------------------------------------

// A bit for each standard stream that is open.
unsigned open_streams() {
  unsigned open = 0;
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) open |= 1U << stream;
  }
  return open;
}

void print(std::uint64_t number) {
  std::printf("a line that somebody prints, number %d\n", static_cast<int>(number));
  std::fflush(stdout);
  std::fprintf(stderr, "and one to standard error\n");
}

std::uint64_t print_and_die_at_fives(const Number& number) {
  print(number.value);
  if (number.value % 5 == 0) ::raise(SIGKILL);
  return 2 * number.value + (open_streams() == 7 ? 1 : 0);
}

// As many lines as fill a socket, if they go into one.
int jobs_are_right() {
  ProcessPool pool{{.width = 2}};
  int good = 0;
  int died = 0;
  for (std::uint64_t i = 1; i < 40; ++i) {
    Future<std::uint64_t> future = pool.submit<print_and_die_at_fives>(Number{i});
    try {
      good += future.get() == 2 * i + 1 ? 1 : 0;
    } catch (const WorkFailed& error) {
      died += i % 5 == 0 && error.lost().end.signal == SIGKILL ? 1 : 0;
    }
    print(i);
  }
  return good == 32 && died == 7 ? 0 : 1;
}

void print_and_die_at_some(IndexRange range, const Number&) {
  for (const std::size_t i : range) {
    print(i);
    if (i % 97 == 5) ::raise(SIGKILL);
  }
}

int rows_are_right() {
  ProcessTeam team(2);
  try {
    (void)team.run<print_and_die_at_some>(200, Number{0}, {.block = 1});
    return 1;
  } catch (const WorkFailed&) {
    print(0);
  }
  if (team.tally().done != 197 || team.lost().size() != 3) return 2;
  for (const LostWork& lost : team.lost()) {
    if (lost.end.signal != SIGKILL) return 3;
  }
  return 0;
}

int rows_of_a_program_are_right() {
  const worker_support::Table table;
  ProcessTeam team{{.width = 2, .program = worker_support::worker("works")}};
  worker_support::Work work = table.work(4);
  work.deaths = 1;
  work.signal = SIGKILL;
  for (int i = 0; i < 20; ++i) {
    print(1);
    if (team.run("rows", worker_support::kRows, work).done != worker_support::kRows) return 1;
  }
  for (std::size_t i = 0; i < worker_support::kRows; ++i) {
    if (work.rows.get()[i] != worker_support::row(4, i)) return 2;
  }
  return 0;
}

// With each kind of stream that has a descriptor of this process's.
int programs_are_right() {
  const std::string sent(100'000, 'x');
  auto fed = Subprocess::start({"cat"}, {.input = sent, .output = SubprocessOutput::captured()});
  auto piped = Subprocess::start({"cat"}, {.input = SubprocessInput::pipe(),
                                           .output = SubprocessOutput::captured(),
                                           .error = SubprocessOutput::captured()});
  print(1);
  if (piped.write("one\n", {}) != 4) return 1;
  print(2);
  piped.close_input();
  if (!piped.wait().ok() || piped.output() != "one\n" || !piped.error().empty()) return 2;
  print(3);
  if (!fed.wait().ok() || fed.output() != sent) return 3;
  auto lists = Subprocess::start({"ls", "/proc/self/fd"}, {.input = SubprocessInput::inherited(),
                                                           .output = SubprocessOutput::captured()});
  if (!lists.wait().ok()) return 4;
  return lists.output() == "0\n1\n2\n3\n" ? 0 : 5;
}

struct Way {
  const char* name;
  int (*right)();
};
constexpr std::array ways{Way{"pool", jobs_are_right}, Way{"team", rows_are_right},
                          Way{"program", rows_of_a_program_are_right},
                          Way{"subprocess", programs_are_right},
                          // The canary: it leaves a descriptor where a stream was.
                          Way{"canary", [] { return ::open("/dev/null", O_RDONLY) >= 0 ? 0 : 1; }}};

// "pool 5": with 0 and 2 closed. What follows it is whether a descriptor took the place of a
// stream.
const RoleEntry closed_streams("closed_streams", [](const std::string& argument) {
  const auto closed = static_cast<unsigned>(argument.back() - '0');
  for (const Way& way : ways) {
    if (argument.substr(0, argument.size() - 2) != way.name) continue;
    for (int stream = 0; stream < 3; ++stream) {
      if ((closed & (1U << stream)) != 0) ::close(stream);
    }
    const unsigned before = open_streams();
    const int fault = way.right();
    if (fault != 0) return fault;
    const bool is_canary = std::strcmp(way.name, "canary") == 0;
    return (open_streams() == before) == (!is_canary || closed == 0) ? 0 : 90;
  }
  return 91;
});

TEST(ProcessSurroundings, ClosedStreamsAreNobodysAndWorkersHaveThem) {
  for (const Way& way : ways) {
    for (int closed = 0; closed < 8; ++closed) {
      (void)run_role("closed_streams", std::string(way.name) + " " + std::to_string(closed));
    }
  }
}

// ---- Fewer places than were asked for ----------------------------------------------------------

std::uint64_t twice(const Number& number) { return 2 * number.value; }
void nothing(IndexRange, const Number&) {}

constexpr std::size_t kWanted = 6;

// How many workers there are of those that were wanted; 0: none can be had, which was said. What
// there is works.
std::size_t width_of_team(std::vector<std::string> program) {
  try {
    const bool by_name = !program.empty();
    ProcessTeam team{{.width = kWanted, .program = std::move(program)}};
    if (by_name) {
      const worker_support::Table table;
      if (team.run("rows", 100, table.work(3)).done != 100) return 100;
    } else if (team.run<nothing>(100, Number{1}, {.block = 1}).done != 100) {
      return 100;
    }
    return team.width();
  } catch (const std::system_error& error) {
    return error.code().value() == EAGAIN ? 0 : 101;
  }
}
std::size_t width_of_pool() {
  try {
    ProcessPool pool(kWanted);
    for (std::uint64_t i = 0; i < 20; ++i) {
      if (pool.submit<twice>(Number{i}).get() != 2 * i) return 100;
    }
    return pool.width();
  } catch (const std::system_error& error) {
    return error.code().value() == EAGAIN ? 0 : 101;
  }
}

// Each of them with more and more places, until it has all that it wants. The thread of a pool is
// one place, so it may have one worker less than a team.
int widths_grow(const std::function<bool(int)>& allow) {
  for (const char* const kind : {"team", "pool", "program"}) {
    // The folder of the build may be closed to another user.
    const bool is_program = kind == std::string("program");
    if (is_program && ::access(worker_support::worker_file().c_str(), X_OK) != 0) continue;
    std::size_t width = 0;
    for (int places = 1; width < kWanted; ++places) {
      if (places > 60 || !allow(places)) return 92;
      const std::size_t team = width_of_team({});
      const bool is_pool = kind == std::string("pool");
      const std::size_t least = std::max(width, is_pool && team > 1 ? team - 1 : 0);
      std::size_t now = 0;
      // A thread that was joined keeps its place for a moment.
      for (int tries = 0; tries < 50 && (tries == 0 || now < least); ++tries) {
        if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        now = is_pool                       ? width_of_pool()
              : kind == std::string("team") ? width_of_team({})
                                            : width_of_team(worker_support::worker("works"));
      }
      if (now > kWanted) return static_cast<int>(now);
      if (now < least) return 1;
      width = now;
    }
    if (!allow(1000)) return 93;
  }
  return 0;
}

// Nobody else has this user, so nobody else's processes count.
constexpr uid_t kNobodys = 61'173;

const RoleEntry few_processes("few_processes", [](const std::string&) {
  if (::setresuid(kNobodys, kNobodys, kNobodys) != 0) return 0;
  if (::prctl(PR_SET_DUMPABLE, 1) != 0) return 90;
  return widths_grow([](int places) {
    const rlimit limit{static_cast<rlim_t>(places), 1000};
    return ::setrlimit(RLIMIT_NPROC, &limit) == 0;
  });
});

TEST(ProcessSurroundings, FewerProcessesThanAUserWantsAreFewerWorkers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  (void)run_role("few_processes");
}

const RoleEntry few_pids("few_pids", [](const std::string& limit) {
  return widths_grow(
      [&](int places) { return test::ControlGroup::write(limit, std::to_string(places)); });
});

TEST(ProcessSurroundings, FewerProcessesThanAGroupMayHaveAreFewerWorkers) {
  const test::ControlGroup group("pids", {"pids.max", "pids.max"}, 1000);
  if (group.path().empty()) GTEST_SKIP() << "no cgroup may be made here";
  SubprocessOptions options = subprocess_support::role_options("few_pids", group.limit());
  options.executable.clear();
  auto child = Subprocess::start(
      {"sh", "-c", R"(echo $$ > "$1/cgroup.procs" && exec "$2" --gtest_filter=SubprocessRole.*)",
       "sh", group.path(), std::filesystem::read_symlink("/proc/self/exe").string()},
      options);
  EXPECT_EQ(child.wait().text(), "exited with 0") << child.output();
}

}}  // namespace process_surroundings_test

// SPDX-License-Identifier: MIT
//
// Teams, pools and programs that are there when the program ends: wherever they are kept, and
// however it ends, it ends in time with the code that it said, and leaves no process. Killed, it
// leaves no process, no memory and no name.
#include "support/test.hpp"
#include "unit/process/master_support.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/team_support.hpp"
#include "unit/process/worker_support.hpp"

namespace process_ends_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

struct Number {
  std::uint64_t value;
};
std::uint64_t twice(const Number& number) { return 2 * number.value; }
void nothing(IndexRange, const Number&) {}

constexpr int kDoesNotWork = 66;

// One of each, which still work when they are destroyed.
class Held {
 public:
  Held() = default;
  ~Held() {
    if (is_owned() && !do_work(is_early())) ::_exit(kDoesNotWork);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  void make() {
    owner_ = ::getpid();
    team_.emplace(2);
    pool_.emplace(2);
    programs_.emplace(ProcessTeamOptions{.width = 2, .program = worker_support::worker("works")});
    child_ = Subprocess::start(
        {"cat"}, {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()});
    table_.emplace();
  }
  bool is_early() const;
  // In a fork of their program they are not.
  bool is_owned() const { return ::getpid() == owner_; }
  // Once the library's own static objects are gone, so are the children that it started (see
  // subprocess.hpp): then they may say that, and nothing else.
  bool do_work(bool may_lack_children = false) {
    try {
      if (team_->run<nothing>(10, Number{1}).done != 10) return false;
      if (pool_->submit<twice>(Number{4}).get() != 8) return false;
      const std::size_t written = child_->write("a line\n", {});
      if (written != 7 && !(may_lack_children && written == 0)) return false;
    } catch (const std::exception&) {
      return false;
    }
    try {
      return programs_->run("rows", 10, table_->work(1)).done == 10;
    } catch (const std::system_error&) {
      return may_lack_children;
    }
  }

 private:
  pid_t owner_ = -1;
  std::optional<worker_support::Table> table_;
  std::optional<ProcessTeam> team_;
  std::optional<ProcessPool> pool_;
  std::optional<ProcessTeam> programs_;
  std::optional<Subprocess> child_;
};

// Made before all static objects of the library, and so destroyed after them.
__attribute__((init_priority(200))) Held the_early;

bool Held::is_early() const { return this == &the_early; }

Held& late() {
  static Held held;
  return held;
}

Held& of_this_thread() {
  thread_local Held held;
  return held;
}

// Not destroyed at all, but used while the program ends.
Held& used_at_exit() {
  static Held* const held = [] {
    auto* const made = new Held;
    std::atexit([] {
      Held& used = used_at_exit();
      if (used.is_owned() && !used.do_work()) ::_exit(kDoesNotWork);
    });
    return made;
  }();
  return *held;
}

struct Place {
  const char* name;
  Held& (*held)();
};
constexpr std::array places{Place{"early", []() -> Held& { return the_early; }},
                            Place{"late", late}, Place{"thread_local", of_this_thread},
                            Place{"atexit", used_at_exit}};

constexpr int kSaid = 7;

// In a fork, which ends as any program does; the other goes on.
[[noreturn]] void end_a_fork(Held& held) {
  const pid_t fork = ::fork();
  if (fork == 0) std::exit(kSaid);
  int status = 0;
  const bool is_right = ::waitpid(fork, &status, 0) == fork && WIFEXITED(status) &&
                        WEXITSTATUS(status) == kSaid && held.do_work();
  ::_exit(is_right ? kSaid : kDoesNotWork);
}

struct End {
  const char* name;
  void (*end)(Held& held);
};
constexpr std::array ends{End{"exit", [](Held&) { std::exit(kSaid); }},
                          End{"quick_exit", [](Held&) { std::quick_exit(kSaid); }},
                          End{"_exit", [](Held&) { ::_exit(kSaid); }}, End{"fork", end_a_fork},
                          // The canary: nothing can be hidden from the test.
                          End{"badly", [](Held&) { std::abort(); }}};

const subprocess_support::RoleEntry ending("ending", [](const std::string& argument) {
  for (const Place& place : places) {
    for (const End& end : ends) {
      if (!argument.starts_with(std::string(place.name) + " " + end.name + " ")) continue;
      Held& held = place.held();
      held.make();
      if (!held.do_work()) return kDoesNotWork;
      end.end(held);
    }
  }
  return 90;
});

TEST(ProcessEnds, WhereverTheyAreKeptAndHoweverTheProgramEnds) {
  for (const Place& place : places) {
    for (const End& end : ends) {
      const std::string text =
          std::string(place.name) + " " + end.name + " of " + std::to_string(::getpid());
      SCOPED_TRACE(text);
      SubprocessOptions options = subprocess_support::role_options("ending", text);
      options.own_group = false;  // else what is left would be killed
      auto program = Subprocess::start(subprocess_support::role_arguments(), options);
      const std::optional<SubprocessExit> exit = program.wait(60s);
      ASSERT_TRUE(exit.has_value()) << "it hangs";
      const bool is_canary = end.name == std::string("badly");
      EXPECT_EQ(exit->text() == "exited with 7", !is_canary) << exit->text() << "\n"
                                                             << program.output();
      EXPECT_TRUE(
          team_support::becomes_true([&] { return master_support::processes_with(text).empty(); }));
    }
  }
}

// ---- It is killed ------------------------------------------------------------------------------

void sleep_long(IndexRange, const Number&) { std::this_thread::sleep_for(1h); }
std::uint64_t never_ends(const Number&) {
  for (;;) ::pause();
}

// Of a team, a pool, or a team of the program whose file is named. A process of its own, not a
// fork: ThreadSanitizer starts no threads in a forked child.
const subprocess_support::RoleEntry killed_master("killed_master", [](const std::string& argument) {
  const master_support::Orders orders = master_support::orders_of(argument);
  const auto early = SharedMemory::create({.name = orders.early, .bytes = 5000});
  const worker_support::Table table;
  std::optional<ProcessPool> pool;
  std::optional<ProcessTeam> team;
  if (orders.program == "pool") {
    pool.emplace(3);
  } else if (orders.program == "team") {
    team.emplace(3);
  } else {
    team.emplace(ProcessTeamOptions{.width = 3, .program = {orders.program, "works"}});
  }
  const bool by_name = orders.program.front() == '/';
  const auto work = [&] {
    if (pool) (void)pool->submit<twice>(Number{1}).get();
    if (by_name) (void)team->run("rows", worker_support::kRows, table.work(1));
    if (team && !by_name) (void)team->run<nothing>(10, Number{1});
  };
  while (orders.when == "making") {
    const auto late = SharedMemory::create({.name = orders.late, .bytes = 5000});
    master_support::tell_ready();
  }
  const auto late = SharedMemory::create({.name = orders.late, .bytes = 5000});
  work();
  std::vector<Future<std::uint64_t>> futures;
  for (int i = 0; pool && orders.when == "busy" && i < 5; ++i) {
    futures.push_back(pool->submit<never_ends>(Number{1}));
  }
  if (orders.when == "stopped") team_support::signal_server(SIGSTOP);
  master_support::tell_ready();
  while (orders.when == "working") work();
  if (orders.when == "busy" && by_name) {
    worker_support::Work hanging = table.work(1);
    hanging.deaths = 100;
    (void)team->run("hang", worker_support::kRows, hanging, {.block = 1});
  }
  if (orders.when == "busy" && team) (void)team->run<sleep_long>(3, Number{1}, {.block = 1});
  for (;;) ::pause();
  return 0;
});

// Alone, or with its group, as a shell does with a job.
TEST(ProcessEnds, WhenTheMasterIsKilledNothingIsLeft) {
  master_support::LongestEnd longest;
  auto random = test::random();
  const std::array<std::string, 3> kinds{"team", "pool", worker_support::worker_file()};
  const std::size_t rounds = test::deep() ? 600 : test::slow ? 3 : 6;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const char* const when : {"starting", "idle", "stopped", "busy", "working", "making"}) {
      const std::string& kind = kinds[round % kinds.size()];
      const bool is_alone = random() % 2 == 0;
      SCOPED_TRACE(kind + ", " + when + (is_alone ? ", alone" : ", with its group"));
      const test::SharedName early;
      const test::SharedName late;
      master_support::Master master(
          "killed_master", kind + ' ' + when + ' ' + early.text() + ' ' + late.text(), is_alone);
      // Killed before it has a team it leaves what the head comment of named memory says.
      if (when == std::string("starting")) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
        longest.add(master.expect_nothing_left(1));
        continue;
      }
      ASSERT_TRUE(master.is_ready());
      EXPECT_TRUE(early.is_there());
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      longest.add(master.expect_nothing_left(5));  // with its server or keeper, and its workers
      ASSERT_FALSE(early.is_there() || late.is_there());
    }
  }
  longest.print();
}

}}  // namespace process_ends_test

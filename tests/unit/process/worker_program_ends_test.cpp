// SPDX-License-Identifier: MIT
//
// A program whose teams have workers of another program only, and so no fork server: what is left
// of it once it was killed, and who keeps its names meanwhile.
#include <gtest/gtest.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/subprocess.hpp>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/support.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/team_support.hpp"
#include "unit/process/worker_support.hpp"

namespace worker_program_ends_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace worker_support;
using team_support::becomes_true;
using team_support::has_ended;
using test::SharedName;

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

template <class Action>
void for_each_process(const Action& action) {
  for (const std::string& name : team_support::names_in("/proc")) {
    if (name.find_first_not_of("0123456789") == std::string::npos) action(std::stoi(name));
  }
}

// All processes that were given this text: a master, its keeper, its workers.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for_each_process([&](pid_t process) {
    const std::string environment = contents("/proc/" + std::to_string(process) + "/environ");
    if (environment.find(text) != std::string::npos) found.push_back(process);
  });
  return found;
}

std::vector<pid_t> keepers_of(pid_t process) {
  std::vector<pid_t> found;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const std::string& task : team_support::names_in(tasks)) {
    std::istringstream children(contents(tasks + "/" + task + "/children"));
    for (pid_t child = 0; children >> child;) {
      if (team_support::name_of(child) == "handoff-names" && !has_ended(child)) {
        found.push_back(child);
      }
    }
  }
  return found;
}

// ---- Memory, as the kernel knows it ------------------------------------------------------------

// What this process has mapped of shared memory: device and number of each file.
std::set<std::string> memories_of(pid_t process) {
  std::set<std::string> found;
  std::istringstream maps(contents("/proc/" + std::to_string(process) + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:handoff") == line.npos && line.find("/dev/shm/") == line.npos) continue;
    std::istringstream words(line);
    std::string range, rights, offset, device, number;
    words >> range >> rights >> offset >> device >> number;
    found.insert(device.append(" ").append(number));
  }
  return found;
}
bool is_any_left(const std::set<std::string>& memories) {
  bool is_left = false;
  for_each_process([&](pid_t process) {
    for (const std::string& each : memories_of(process)) {
      is_left = is_left || memories.count(each) != 0;
    }
  });
  return is_left;
}

// ---- The master is killed ----------------------------------------------------------------------

struct Orders {
  std::string program, when, early, late;
};
Orders orders_of(const std::string& argument) {
  std::istringstream words(argument);
  Orders orders;
  words >> orders.program >> orders.when >> orders.early >> orders.late;
  return orders;
}
void tell_ready() {
  const char ready = 1;
  (void)!::write(subprocess_support::kRoleOutput, &ready, 1);
}

// A process of its own, not a fork: ThreadSanitizer starts no threads in a forked child.
const subprocess_support::RoleEntry master_with_names(
    "master_with_names", [](const std::string& argument) {
      const Orders orders = orders_of(argument);
      const auto early = SharedMemory::create({.bytes = 5000, .name = orders.early});
      const Table table;
      ProcessTeam team{{.width = 3, .program = {orders.program, "works"}}};
      while (orders.when == "making") {
        const auto late = SharedMemory::create({.bytes = 5000, .name = orders.late});
        tell_ready();
      }
      const auto late = SharedMemory::create({.bytes = 5000, .name = orders.late});
      (void)team.run("rows", kRows, table.work(1));
      Work hanging = table.work(1);
      hanging.deaths = 100;
      tell_ready();
      if (orders.when == "busy") (void)team.run("hang", kRows, hanging, {.block = 1});
      for (;;) ::pause();
      return 0;
    });

// Waits for a word of the master, which has the other end.
class Door {
 public:
  Door() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    mine_ = ends[0];
    its_ = ends[1];
  }
  ~Door() {
    ::close(mine_);
    close_its();
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  int its() const { return its_; }
  void close_its() {
    if (its_ >= 0) ::close(its_);
    its_ = -1;
  }
  bool hears() const {
    char ready = 0;
    return ::read(mine_, &ready, 1) == 1;
  }

 private:
  int mine_ = -1;
  int its_ = -1;
};

// At once, and nothing is left: no process, no name, no memory. How long that took.
std::chrono::nanoseconds expect_nothing_left(Subprocess& master, const std::string& mark) {
  const std::set<std::string> memories = memories_of(master.id());
  EXPECT_TRUE(master.signal(SIGKILL));
  const auto killed = std::chrono::steady_clock::now();
  EXPECT_EQ(master.wait().text(), "killed by SIGKILL");
  EXPECT_TRUE(becomes_true([&] { return processes_with(mark).empty(); }));
  const auto took = std::chrono::steady_clock::now() - killed;
  EXPECT_FALSE(is_any_left(memories));
  return took;
}

TEST(WorkerProgramEnds, WhenTheMasterIsKilledNothingIsLeft) {
  auto random = test::random();
  std::chrono::nanoseconds longest{0};
  const std::size_t rounds = test::deep() ? 1000 : test::sanitized ? 4 : 12;
  for (std::size_t round = 0; round < rounds; ++round) {
    const char* const when = std::array{"starting", "idle", "busy", "making"}[round % 4];
    SCOPED_TRACE(when);
    const SharedName early;
    const SharedName late;
    const std::string mark = worker_file() + ' ' + when + ' ' + early.text() + ' ' + late.text();
    SubprocessOptions options = subprocess_support::role_options("master_with_names", mark);
    Door door;
    options.descriptors = {{.from = door.its(), .to = subprocess_support::kRoleOutput}};
    auto master = Subprocess::start(subprocess_support::role_arguments(), options);
    door.close_its();
    if (round % 4 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    } else {
      ASSERT_TRUE(door.hears());
      EXPECT_TRUE(early.is_there());
      EXPECT_EQ(keepers_of(master.id()).size(), 1U);
      EXPECT_GE(memories_of(master.id()).size(), 3U) << "the test sees none";
    }
    if (round % 4 == 3) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    longest = std::max(longest, expect_nothing_left(master, mark));
    // Killed before it had a team it may leave what a named memory's head comment says.
    if (round % 4 == 0) continue;
    ASSERT_FALSE(early.is_there());
    ASSERT_FALSE(late.is_there());
  }
  if (!test::deep()) return;
  // Printed and never asserted: a busy machine is no fault.
  std::printf("all was gone %lld us after the master's death, at the latest\n",
              static_cast<long long>(
                  std::chrono::duration_cast<std::chrono::microseconds>(longest).count()));
}

// ---- The keeper --------------------------------------------------------------------------------

TEST(WorkerProgramEnds, ThereIsAKeeperWhileThereAreATeamAndAName) {
  const Table table;
  const SharedName name;
  const SharedName second;
  const auto keepers = [] { return keepers_of(::getpid()); };
  {
    ProcessTeam first{{.width = 1, .program = worker("works")}};
  }
  const std::size_t before = team_support::open_descriptors();
  {
    const auto alone = SharedMemory::create({.bytes = 1, .name = name.text()});
    EXPECT_TRUE(keepers().empty()) << "without a team";
    const ProcessTeam forks(1);
    EXPECT_TRUE(keepers().empty()) << "its fork server does it";
  }
  {
    ProcessTeam team{{.width = 1, .program = worker("works")}};
    EXPECT_EQ(team.run("rows", kRows, table.work(1)).done, kRows);
    EXPECT_TRUE(keepers().empty()) << "without a name";
    const auto memory = SharedMemory::create({.bytes = 1, .name = name.text()});
    ASSERT_EQ(keepers().size(), 1U);
    {
      const ProcessTeam other{{.width = 1, .program = worker("works")}};
      EXPECT_EQ(keepers().size(), 1U) << "one for all teams";
    }
    // One that was killed is replaced at the next run, or name.
    for (const bool by_name : {false, true}) {
      const pid_t keeper = keepers().at(0);
      ::kill(keeper, SIGKILL);
      EXPECT_TRUE(becomes_true([&] { return has_ended(keeper); }));
      std::optional<SharedMemory> another;
      if (by_name) another = SharedMemory::create({.bytes = 1, .name = second.text()});
      if (!by_name) (void)team.run("rows", kRows, table.work(2));
      EXPECT_EQ(keepers().size(), 1U);
    }
    // A fork's names are its own, and its copy of the team ends nothing.
    EXPECT_EQ(test::in_child([&] {
                const auto its = SharedMemory::create({.bytes = 1, .name = second.text()});
                return keepers_of(::getpid()).empty() ? 0 : 1;
              }),
              0);
    EXPECT_EQ(keepers().size(), 1U);
  }
  EXPECT_TRUE(keepers().empty());
  EXPECT_EQ(team_support::open_descriptors(), before);
  EXPECT_FALSE(name.is_there());
}

// A name that is there before the team, and a team that is made anew.
TEST(WorkerProgramEnds, ANameThatWasThereBeforeTheTeamIsKept) {
  const SharedName name;
  const auto memory = SharedMemory::create({.bytes = 1, .name = name.text()});
  for (int i = 0; i < 2; ++i) {
    ProcessTeam team{{.width = 1, .program = worker("works")}};
    EXPECT_EQ(keepers_of(::getpid()).size(), 1U);
    const ProcessTeam moved(std::move(team));
    EXPECT_EQ(keepers_of(::getpid()).size(), 1U);
  }
  EXPECT_TRUE(keepers_of(::getpid()).empty());
  EXPECT_TRUE(name.is_there());
}

// It costs no call that would work without it.
const subprocess_support::RoleEntry no_keeper_to_be_had(
    "no_keeper_to_be_had", [](const std::string& argument) {
      const Orders orders = orders_of(argument);
      const Table table;
      ProcessTeam team{{.width = 1, .program = {orders.program, "works"}}};
      if (!test::forbid({SYS_pidfd_open}, EPERM)) return 77;
      const auto memory = SharedMemory::create({.bytes = 1, .name = orders.early});
      if (!keepers_of(::getpid()).empty()) return 1;
      return team.run("rows", kRows, table.work(1)).done == kRows ? 0 : 2;
    });
TEST(WorkerProgramEnds, WithoutAKeeperAllElseGoesOn) {
  const SharedName name;
  SubprocessOptions options = subprocess_support::role_options(
      "no_keeper_to_be_had", worker_file() + " idle " + name.text());
  auto child = Subprocess::start(subprocess_support::role_arguments(), options);
  const SubprocessExit end = child.wait();
  if (end.code == 77) GTEST_SKIP() << "no filter of system calls here";
  EXPECT_EQ(end.text(), "exited with 0");
}

}}  // namespace worker_program_ends_test

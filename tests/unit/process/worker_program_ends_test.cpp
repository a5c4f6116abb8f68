// SPDX-License-Identifier: MIT
//
// A program whose teams have workers of another program only, and so no fork server: who keeps its
// names. What is left of it once it was killed is in process_ends_test.cpp.
#include "support/test.hpp"
#include "unit/process/master_support.hpp"
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
using namespace master_support;
using test::SharedName;

std::vector<pid_t> keepers_of(pid_t process) {
  std::vector<pid_t> found = team_support::children_of(process, "handoff-names");
  std::erase_if(found, has_ended);
  return found;
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
  const auto before = team_support::open_descriptors();
  {
    const auto alone = SharedMemory::create({.name = name.text(), .bytes = 1});
    EXPECT_TRUE(keepers().empty()) << "without a team";
    const ProcessTeam forks(1);
    EXPECT_TRUE(keepers().empty()) << "its fork server does it";
  }
  {
    ProcessTeam team{{.width = 1, .program = worker("works")}};
    EXPECT_EQ(team.run("rows", kRows, table.work(1)).done, kRows);
    EXPECT_TRUE(keepers().empty()) << "without a name";
    const auto memory = SharedMemory::create({.name = name.text(), .bytes = 1});
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
      if (by_name) another = SharedMemory::create({.name = second.text(), .bytes = 1});
      if (!by_name) (void)team.run("rows", kRows, table.work(2));
      EXPECT_EQ(keepers().size(), 1U);
    }
    // A fork's names are its own, and its copy of the team ends nothing.
    EXPECT_EQ(test::in_child([&] {
                const auto its = SharedMemory::create({.name = second.text(), .bytes = 1});
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
  const auto memory = SharedMemory::create({.name = name.text(), .bytes = 1});
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
      const auto memory = SharedMemory::create({.name = orders.early, .bytes = 1});
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

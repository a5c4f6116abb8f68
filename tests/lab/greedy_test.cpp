// SPDX-License-Identifier: MIT
// Who takes the CPUs: on a made-up /proc, and once a busy child of this test.
#include <sys/prctl.h>

#include <csignal>

#include "harness/greedy.hpp"
#include "harness/interrupt.hpp"
#include "harness/watch.hpp"
#include "support/fake_root.hpp"

namespace greedy_test { namespace {

using namespace handoff::lab;
namespace fs = std::filesystem;

constexpr pid_t ours = 50;

class FakeProc : public handoff::test::FakeRoot {
 public:
  FakeProc() : FakeRoot(std::vector<File>()) {}

  // A process that was on a CPU for so many seconds.
  void has(pid_t id, const std::string& name, pid_t parent, double user_s, double system_s,
           int started = 7, long flags = 4194304) const {
    const auto ticks = [](double seconds) {
      return std::to_string(static_cast<long>(seconds * static_cast<double>(sysconf(_SC_CLK_TCK))));
    };
    std::ofstream(stat_of(id)) << id << " (" << name << ") R " << parent << " 1 1 0 -1 " << flags
                               << " 100 0 0 0 " << ticks(user_s) << ' ' << ticks(system_s)
                               << " 900 900 20 0 1 0 " << started << " 1000 1 18446744073709551615";
  }
  void lacks(pid_t id) const { fs::remove_all(stat_of(id).parent_path()); }
  void has_a_broken(pid_t id) const { std::ofstream(stat_of(id)) << id << " (cut of"; }

 private:
  // Its folder is there.
  [[nodiscard]] fs::path stat_of(pid_t id) const {
    const fs::path folder = fs::path(path()) / "proc" / std::to_string(id);
    fs::create_directories(folder);
    return folder / "stat";
  }
};

std::vector<std::string> names_of(const GreedyProcesses& processes, std::size_t most = 3) {
  std::vector<std::string> names;
  for (const Greedy& greedy : processes.greediest(most)) names.push_back(greedy.name);
  return names;
}

TEST(Greedy, AreThoseThatTookMostSinceTheFirstLook) {
  const FakeProc proc;
  proc.has(1, "init", 0, 1000, 1000);  // before
  proc.has(10, "little", 1, 5, 5);
  proc.has(11, "much", 1, 5, 5);
  proc.has(12, "more (than) that", 1, 0, 0);
  proc.has(13, "most", 1, 9, 9);
  GreedyProcesses processes(ours, proc.path());
  EXPECT_TRUE(processes.greediest().empty());
  proc.has(10, "little", 1, 6, 5);
  proc.has(11, "much", 1, 5, 9);
  proc.has(12, "more (than) that", 1, 3, 3);
  proc.has(13, "most", 1, 19, 9);
  processes.look();
  EXPECT_EQ(names_of(processes), (std::vector<std::string>{"most", "more (than) that", "much"}));
  EXPECT_EQ(names_of(processes, 1), (std::vector<std::string>{"most"}));
  proc.has(10, "little", 1, 60, 5);
  processes.look();
  EXPECT_EQ(names_of(processes, 2), (std::vector<std::string>{"little", "most"}));
}

TEST(Greedy, ThisProgramAndItsChildrenAreNotAmongThem) {
  const FakeProc proc;
  GreedyProcesses processes(ours, proc.path());
  proc.has(ours, "handoff", 1, 100, 0);
  proc.has(51, "own.pool", ours, 100, 0);
  proc.has(52, "its child", 51, 100, 0);
  proc.has(49, "shell", 1, 10, 0);
  proc.has(60, "in a circle", 61, 20, 0);
  proc.has(61, "in a circle", 60, 20, 0);
  processes.look();
  EXPECT_EQ(names_of(processes), (std::vector<std::string>{"in a circle", "shell"}));
}

TEST(Greedy, ProcessesOfOneNameAreOneAndNewOnesCountFromTheirStart) {
  const FakeProc proc;
  proc.has(10, "old", 1, 500, 0, 3);
  GreedyProcesses processes(ours, proc.path());
  proc.has(10, "cc1plus", 1, 4, 0, 9);  // another one with the same number
  proc.has(11, "cc1plus", 1, 4, 0);
  proc.has(12, "ffmpeg", 1, 7, 0);
  proc.has_a_broken(13);
  processes.look();
  proc.lacks(11);
  processes.look();
  EXPECT_EQ(names_of(processes), (std::vector<std::string>{"cc1plus", "ffmpeg"}));
}

TEST(Greedy, ThreadsOfTheKernelAreOnlyWhereTheyAreLookedAt) {
  constexpr long kernel_thread = 69238880;  // as a kworker has it
  const FakeProc proc;
  GreedyProcesses processes(ours, proc.path());
  proc.has(10, "kworker", 2, 0, 4, 7, kernel_thread);
  proc.has(11, "ffmpeg", 1, 9, 0);
  processes.look(false);
  EXPECT_EQ(names_of(processes), (std::vector<std::string>{"ffmpeg"}));
  proc.has(10, "kworker", 2, 0, 8, 7, kernel_thread);
  processes.look();
  EXPECT_EQ(names_of(processes), (std::vector<std::string>{"ffmpeg", "kworker"}));
}

TEST(Greedy, ANameCannotActOnATerminal) {
  const FakeProc proc;
  GreedyProcesses processes(ours, proc.path());
  proc.has(10, "red\033[31m", 1, 4, 0);
  processes.look();
  EXPECT_EQ(names_of(processes), (std::vector<std::string>{"red?[31m"}));
}

TEST(Greedy, NothingIsKnownWithoutProc) {
  GreedyProcesses processes(ours, "/nonexistent");
  processes.look();
  EXPECT_TRUE(processes.greediest().empty());
}

TEST(Greedy, ABusyChildOfThisTestIsOneUnlessItIsOurs) {
  constexpr pid_t nobody = -1;
  GreedyProcesses all(nobody);
  GreedyProcesses others(getpid());
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "handoff-greedy");
    for (std::atomic<int> spins = 0;; ++spins) {
    }
  }
  // However busy the machine is, it gets a CPU at some time.
  const auto is_named = [](GreedyProcesses& processes) {
    processes.look();
    return contains(names_of(processes, 1000), "handoff-greedy");
  };
  bool found = false;
  for (int i = 0; i < 600 && !found; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    found = is_named(all);
  }
  EXPECT_TRUE(found);
  EXPECT_FALSE(is_named(others));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(BusyLine, SaysHowMuchAndWho) {
  EXPECT_EQ(busy_line(0.91, 0, 2, {{"ffmpeg", 0.6}, {"cc1plus", 0.23}}),
            "Busy machine: other programs took 0.9 of 2 CPUs: ffmpeg 0.6, cc1plus 0.2");
  EXPECT_EQ(busy_line(0.5, 0, 4, {}), "Busy machine: other programs took 0.5 of 4 CPUs");
  EXPECT_EQ(busy_line(0.01, 0.4, 2, {{"bash", 0.1}}),
            "Busy machine: its host took 0.4 of 2 CPUs away");
  EXPECT_EQ(busy_line(0.5, 0.4, 2, {{"bash", 0.5}}),
            "Busy machine: other programs took 0.5 of 2 CPUs: bash 0.5; its host took 0.4 of 2 "
            "CPUs away");
  EXPECT_EQ(busy_line(0.05, 0.04, 2, {{"bash", 0.1}}), "");
}

// Two CPUs, of which others take as many as the list says, a look after the other.
class FakeMachine {
 public:
  explicit FakeMachine(std::vector<double> taken) : taken_(std::move(taken)) {}

  Look operator()() {
    // Two looks belong together; between them pass ten seconds.
    const double taken = taken_[std::min(looks_ / 2, taken_.size() - 1)];
    if (looks_++ % 2 == 1) {
      now_.time_s += 10;
      now_.idle_s += 10 * (2 - taken);
    }
    return now_;
  }
  [[nodiscard]] std::size_t looks() const { return looks_; }

 private:
  std::vector<double> taken_;
  std::size_t looks_ = 0;
  Look now_{.cpus = 2};
};

TEST(WaitUntilQuiet, EndsOnceOthersAreQuiet) {
  Interrupt interrupt;
  FakeMachine machine({1, 0.5, 0.02, 1});
  const double others =
      wait_until_quiet(std::chrono::hours(1), interrupt, [&] { return machine(); });
  EXPECT_NEAR(others, 0.02, 1e-9);
  EXPECT_EQ(machine.looks(), 6U);
}

TEST(WaitUntilQuiet, EndsWhenTheTimeIsOver) {
  Interrupt interrupt;
  FakeMachine machine({1.5});
  const double others =
      wait_until_quiet(std::chrono::seconds(0), interrupt, [&] { return machine(); });
  EXPECT_NEAR(others, 1.5, 1e-9);
  EXPECT_EQ(machine.looks(), 2U);
}

}}  // namespace greedy_test

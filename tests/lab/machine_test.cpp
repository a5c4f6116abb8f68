// SPDX-License-Identifier: MIT
// What counts as a disturbed machine: on made-up counters, and once on this machine's.
#include "harness/machine.hpp"
#include "support/fake_root.hpp"

namespace {

using namespace handoff::lab;
using handoff::test::FakeRoot;

constexpr Speed usual{100, 200};

// Two CPUs over ten seconds.
Disturbance after(double idle_s, double own_s, double stolen_s = 0, double throttled = 0,
                  Speed speed = usual) {
  const Look start{50, 2, 7, 3, 4, 1};
  return disturbance(start, {60, 2, 7 + idle_s, 3 + stolen_s, 4 + own_s, 1 + throttled}, speed,
                     usual);
}

TEST(Disturbance, IsWhatOthersTook) {
  EXPECT_EQ(after(10, 10).reason, "");
  EXPECT_EQ(after(20, 0).reason, "");
  EXPECT_EQ(after(9.5, 10).reason, "");  // a twentieth of a CPU goes on everywhere
  EXPECT_NEAR(after(9.5, 10).foreign_cpus, 0.05, 1e-9);
  EXPECT_EQ(after(5, 5).reason, "other processes took 1.00 CPUs");
  EXPECT_EQ(after(5, 7, 8).reason, "the host took 0.80 CPUs");
  EXPECT_NEAR(after(5, 5, 8).foreign_cpus, 0.2, 1e-9);
  EXPECT_EQ(after(10, 10, 0, 3).reason, "throttled 3 times");
  EXPECT_EQ(after(10, 12).foreign_cpus, 0);  // clocks that disagree are nobody's time
}

TEST(Disturbance, IsASlowState) {
  EXPECT_EQ(after(10, 10, 0, 0, {90, 180}).reason, "");
  EXPECT_EQ(after(10, 10, 0, 0, {60, 200}).reason, "one CPU was at 60 % of its usual speed");
  EXPECT_EQ(after(10, 10, 0, 0, {100, 128}).reason,
            "all CPUs together were at 64 % of their usual speed");
  EXPECT_TRUE(after(10, 10, 0, 0, {60, 200}).only_slow);
}

TEST(Disturbance, IsNotOnlySlowWhereSomebodyTookTime) {
  EXPECT_FALSE(after(10, 10).only_slow);
  EXPECT_FALSE(after(5, 5).only_slow);
  EXPECT_FALSE(after(5, 5, 0, 0, {60, 200}).only_slow);
}

TEST(Disturbance, IsOnlyForeignWhereNobodyButProcessesTookTime) {
  EXPECT_TRUE(after(5, 5).only_foreign);
  EXPECT_TRUE(after(5, 5, 0, 0, {60, 200}).only_foreign);  // slow besides
  EXPECT_FALSE(after(10, 10).only_foreign);
  EXPECT_FALSE(after(10, 10, 0, 0, {60, 200}).only_foreign);
  EXPECT_FALSE(after(5, 7, 8).only_foreign);
  EXPECT_FALSE(after(5, 2, 5).only_foreign);  // processes and the host
  EXPECT_FALSE(after(5, 5, 0, 3).only_foreign);
  // Interrupts take from a thread what it does not wait for.
  const Look start{50, 2, 7, 3, 4, 1, 2};
  EXPECT_TRUE(disturbance(start, {60, 2, 12, 3, 9, 1, 2.5}, usual, usual).only_foreign);
  EXPECT_FALSE(disturbance(start, {60, 2, 12, 3, 9, 1, 6}, usual, usual).only_foreign);
}

TEST(Disturbance, OfAFewTicksIsNone) {
  const Disturbance seen = disturbance({0, 2, 0, 0, 0, 0}, {0.1, 2, 0.07, 0, 0.1, 0}, usual, usual);
  EXPECT_EQ(seen.reason, "");
  EXPECT_GT(seen.foreign_cpus, 0.2);
}

TEST(Disturbance, IsNotMadeUpWhereNothingIsKnown) {
  EXPECT_EQ(disturbance({1, 0, 0, 0, 0, 0}, {9, 0, 0, 0, 0, 0}, usual, usual).reason, "");
  EXPECT_EQ(disturbance({1, 2, 0, 0, 0, 0}, {9, 1, 0, 0, 0, 0}, usual, usual).reason, "");
  EXPECT_EQ(disturbance({1, 2, 0, 0, 0, 0}, {1, 2, 0, 0, 0, 0}, usual, usual).reason, "");
}

// Two CPUs over ten seconds, of which the contenders took 4; the kernel's threads did 2 s of work
// before, and may have done more since.
Look before_writing() {
  return {50, 2, 7, 3, 4, 1, 0, ProcessTable{{5, {"kworker/0", 2, true, 2, 1}}}};
}
Look after_writing(double idle_s, ProcessTable kernel) {
  return {60, 2, 7 + idle_s, 3, 8, 1, 0, std::move(kernel)};
}

Disturbance while_writing(double idle_s, ProcessTable kernel) {
  return disturbance(before_writing(), after_writing(idle_s, std::move(kernel)), usual, usual);
}

TEST(Disturbance, IsNotWhatTheKernelWritesBackForUs) {
  const Disturbance seen = while_writing(13, {{5, {"kworker/0", 2, true, 5, 1}}});
  EXPECT_EQ(seen.reason, "");
  EXPECT_NEAR(seen.foreign_cpus, 0, 1e-9);
  ASSERT_TRUE(seen.kernel_cpus);
  EXPECT_NEAR(seen.kernel_cpus.value_or(0), 0.3, 1e-9);
}

TEST(Disturbance, IsWhatOtherProgramsTookBesideTheKernel) {
  const Disturbance seen = while_writing(8, {{5, {"kworker/0", 2, true, 5, 1}}});
  EXPECT_EQ(seen.reason, "other processes took 0.50 CPUs");
  EXPECT_NEAR(seen.kernel_cpus.value_or(0), 0.3, 1e-9);
}

TEST(Disturbance, CountsThreadsOfTheKernelThatCameMeanwhileAndNoneThatEnded) {
  const Disturbance came =
      while_writing(13, {{5, {"kworker/0", 2, true, 2, 1}}, {6, {"kworker/1", 2, true, 3, 9}}});
  EXPECT_NEAR(came.kernel_cpus.value_or(0), 0.3, 1e-9);
  EXPECT_EQ(came.reason, "");
  // Another thread under the same number: all of its time is since then.
  const Disturbance another = while_writing(13, {{5, {"kworker/9", 2, true, 3, 8}}});
  EXPECT_NEAR(another.kernel_cpus.value_or(0), 0.3, 1e-9);
  const Disturbance ended = while_writing(13, {{6, {"kworker/1", 2, true, 0, 9}}});
  EXPECT_NEAR(ended.kernel_cpus.value_or(1), 0, 1e-9);
  EXPECT_EQ(ended.reason, "other processes took 0.30 CPUs");
}

TEST(Disturbance, SaysWhereTheKernelsThreadsAreHidden) {
  const Disturbance seen = while_writing(13, {});
  EXPECT_EQ(seen.reason,
            "other processes or the kernel's threads, which are hidden here, took 0.30 CPUs");
  EXPECT_FALSE(seen.kernel_cpus);
  Look before = before_writing();
  before.kernel = ProcessTable();
  EXPECT_FALSE(disturbance(before, after_writing(16, {}), usual, usual).kernel_cpus);
  EXPECT_EQ(disturbance(before, after_writing(16, {}), usual, usual).reason, "");
}

TEST(Look, ReadsTheCountersOfTheKernel) {
  std::string stat = "cpu  1 2 3 4 5 6 7 8 0 0\n";
  for (int cpu = 0; cpu < 1024; ++cpu) {  // all that this process could possibly run on
    stat += "cpu" + std::to_string(cpu) + " 1000 0 0 400 100 3 7 200 0 0\n";
  }
  const FakeRoot root(
      {{"/proc/stat", stat + "intr 1 2 3\n"},
       {"/proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/c\n"},
       {"/sys/fs/cgroup/cpu/a/b/cpu.stat", "nr_periods 9\nnr_throttled 5\n"},
       {"/sys/fs/cgroup/c/cpu.stat", "usage_usec 9\nnr_throttled 7\n"},
       {"/sys/fs/cgroup/m/cpu.stat", "nr_throttled 1000\n"},
       {"/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "30\n"},
       {"/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "70\n"}});
  const Look seen = look(KernelThreads::are_others, root.path());
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  ASSERT_GE(seen.cpus, 1);
  EXPECT_DOUBLE_EQ(seen.idle_s, seen.cpus * 500 / ticks);
  EXPECT_DOUBLE_EQ(seen.stolen_s, seen.cpus * 200 / ticks);
  EXPECT_DOUBLE_EQ(seen.interrupts_s, seen.cpus * 10 / ticks);
  EXPECT_EQ(seen.throttled, 5 + 7 + 30 + 70);
  EXPECT_FALSE(seen.kernel);
}

TEST(Look, FindsTheThreadsOfTheKernel) {
  const auto stat = [](int id, const std::string& name, const std::string& flags, int ticks) {
    return FakeRoot::File{"/proc/" + std::to_string(id) + "/stat",
                          std::to_string(id) + " (" + name + ") S 2 0 0 0 -1 " + flags +
                              " 0 0 0 0 1 " + std::to_string(ticks) +
                              " 0 0 20 0 1 0 77 0 0 1844674 0"};
  };
  const FakeRoot root({stat(2, "kthreadd", "2129984", 0),
                       stat(71, "kworker/u8:0-flush (8:0)", "69238880", 299),
                       stat(72, "kworker/pretends", "4194304", 1000),  // a program may say so
                       stat(73, "cut", "", 0),
                       {"/proc/74/stat", ""}});
  const Look seen = look(KernelThreads::work_for_us, root.path());
  ASSERT_TRUE(seen.kernel);
  const ProcessTable kernel = seen.kernel.value_or(ProcessTable());
  ASSERT_EQ(kernel.size(), 2U);
  EXPECT_EQ(kernel.at(71).name, "kworker/u8:0-flush (8:0)");
  EXPECT_DOUBLE_EQ(kernel.at(71).seconds, 300 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(kernel.at(71).started, 77);
}

TEST(Look, FindsNoThreadsOfTheKernelWhereTheyAreHidden) {
  const FakeRoot root({FakeRoot::File{
      "/proc/1/stat", "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 1 0 7 0 0 1 0"}});
  const Look seen = look(KernelThreads::work_for_us, root.path());
  ASSERT_TRUE(seen.kernel);
  EXPECT_TRUE(seen.kernel.value_or(ProcessTable{{1, {}}}).empty());
}

TEST(Look, OfNothingKnowsNothing) {
  const Look seen = look(KernelThreads::are_others, "/nonexistent");
  EXPECT_EQ(seen.cpus, 0);
  EXPECT_EQ(seen.throttled, 0);
  EXPECT_GT(seen.time_s, 0);
}

TEST(Look, OfThisMachineGoesOn) {
  const Look before = look();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  while (std::chrono::steady_clock::now() < end) {
  }
  const Look now = look();
  EXPECT_GE(now.cpus, 1);
  EXPECT_GT(now.time_s, before.time_s);
  EXPECT_GT(now.own_s, before.own_s);
  EXPECT_GE(now.idle_s, before.idle_s);
}

}  // namespace

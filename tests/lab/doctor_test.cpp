// SPDX-License-Identifier: MIT
// What the doctor finds on made-up machines, and what it makes of a self-test's comparisons.
#include "commands/self_test.hpp"
#include "harness/diagnosis.hpp"
#include "harness/two_cores.hpp"
#include "texts.hpp"

namespace {

using namespace handoff::lab;
using handoff::test::FakeRoot;

const std::string kCpu = "/sys/devices/system/cpu/cpu";

TEST(Doctor, AnEmptyMachineSaysThatItDoesNotKnow) {
  const FakeRoot root({});
  const DiagnosisSource source{root.path(), 4};
  EXPECT_EQ(find_cpus(source).text, "4 may be used, no quota");
  EXPECT_TRUE(find_governor(source).value.is_null());
  EXPECT_TRUE(find_siblings(source).value.is_null());
  EXPECT_TRUE(find_load(source).value.is_null());
  const Finding pages = find_pages(source);
  EXPECT_TRUE(pages.value.at("transparent_huge").is_null());
  EXPECT_TRUE(pages.value.at("huge_reserved").is_null());
  EXPECT_EQ(pages.advice, "");
}

TEST(Doctor, FilesOfGarbageAreNotKnown) {
  const FakeRoot root({{"/proc/loadavg", "high\n"},
                       {"/proc/meminfo", "Hugepagesize: many kB\nHugePages_Total:\n"},
                       {"/sys/kernel/mm/transparent_hugepage/enabled", "always ]never[\n"},
                       {kCpu + "0/cpufreq/scaling_governor", ""}});
  const DiagnosisSource source{root.path(), 1};
  EXPECT_TRUE(find_load(source).value.is_null());
  EXPECT_TRUE(find_governor(source).value.is_null());
  const Finding pages = find_pages(source);
  EXPECT_TRUE(pages.value.at("transparent_huge").is_null());
  EXPECT_TRUE(pages.value.at("huge_bytes").is_null());
  EXPECT_TRUE(pages.value.at("huge_reserved").is_null());
}

TEST(Doctor, WarnsOfAQuotaAndOfOneCpu) {
  const FakeRoot root(
      {{"/proc/self/cgroup", "0::/a\n"},
       {"/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
       {"/sys/fs/cgroup/a/cpu.max", "150000 100000\n"}});
  const Finding limited = find_cpus({root.path(), 4});
  EXPECT_EQ(limited.text, "4 may be used, limited to the time of 1.50 (cgroup quota)");
  EXPECT_EQ(limited.value.at("width"), 2);
  EXPECT_TRUE(says(limited.advice, "quota"));
  const Finding alone = find_cpus({root.path(), 1});
  EXPECT_TRUE(says(alone.advice, "one CPU"));
}

TEST(Doctor, WarnsOfGovernorsThatSave) {
  const FakeRoot mixed({{kCpu + "0/cpufreq/scaling_governor", "performance\n"},
                        {kCpu + "1/cpufreq/scaling_governor", "powersave\n"}});
  EXPECT_EQ(find_governor({mixed.path(), 2}).text, "performance, powersave");
  EXPECT_NE(find_governor({mixed.path(), 2}).advice, "");
  const FakeRoot steady({{kCpu + "0/cpufreq/scaling_governor", "performance\n"},
                         {kCpu + "1/cpufreq/scaling_governor", "performance\n"}});
  EXPECT_EQ(find_governor({steady.path(), 2}).advice, "");
}

TEST(Doctor, WarnsOfThreadsThatShareACore) {
  const FakeRoot shared({{kCpu + "0/topology/thread_siblings_list", "0-1\n"},
                         {kCpu + "1/topology/thread_siblings_list", "0-1\n"}});
  const Finding one_core = find_siblings({shared.path(), 2});
  EXPECT_EQ(one_core.value, (nlohmann::json{{"cpus", 2}, {"cores", 1}}));
  EXPECT_NE(one_core.advice, "");
  const FakeRoot apart({{kCpu + "0/topology/thread_siblings_list", "0\n"},
                        {kCpu + "1/topology/thread_siblings_list", "1\n"}});
  EXPECT_EQ(find_siblings({apart.path(), 2}).advice, "");
}

TEST(Doctor, ReadsPages) {
  const FakeRoot root({{"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"},
                       {"/proc/meminfo",
                        "MemTotal:       24000000 kB\nMemAvailable:    2097152 kB\n"
                        "HugePages_Total:       7\nHugepagesize:       2048 kB\n"}});
  const Finding pages = find_pages({root.path(), 2});
  EXPECT_EQ(pages.value.at("transparent_huge"), "never");
  EXPECT_EQ(pages.value.at("huge_bytes"), 2 << 20);
  EXPECT_EQ(pages.value.at("huge_reserved"), 7);
  EXPECT_EQ(pages.value.at("available_bytes"), std::uint64_t{1} << 31);
  EXPECT_NE(pages.advice, "");
}

TEST(Doctor, WarnsOfLoad) {
  const FakeRoot busy({FakeRoot::File{"/proc/loadavg", "1.25 0.50 0.25 2/300 4711\n"}});
  EXPECT_EQ(find_load({busy.path(), 2}).value, 1.25);
  EXPECT_NE(find_load({busy.path(), 2}).advice, "");
  const FakeRoot idle({FakeRoot::File{"/proc/loadavg", "0.05 0.50 0.25 2/300 4711\n"}});
  EXPECT_EQ(find_load({idle.path(), 2}).advice, "");
}

TEST(Doctor, TriesAndSaysWhyNot) {
  const FakeRoot root({{"/proc/sys/kernel/io_uring_disabled", "2\n"},
                       {"/proc/sys/kernel/perf_event_paranoid", "4\n"}});
  for (const Finding& tried : {find_io_uring({root.path(), 1}), find_counters({root.path(), 1})}) {
    ASSERT_TRUE(tried.value.is_boolean());
    EXPECT_EQ(tried.text.starts_with("refused: "), !tried.value.get<bool>()) << tried.text;
  }
}

TEST(TwoCores, AreMeasuredWhereThereAreTwo) {
  const auto cores = measure_two_cores();
  if (!cores) GTEST_SKIP() << "this process may run on one CPU only";
  EXPECT_NE(cores->first, cores->second);
  EXPECT_GT(cores->one_gflops, 0);
  EXPECT_GT(cores->both_gflops, 0);
  EXPECT_GT(cores->round_trip_ns, 0);
}

// Ten launches, no disturbance.
SelfTestComparison compared(bool planted, Change change, double ratio = 1, double half = 0.01) {
  return {planted, 10, 0, "", {change, ratio, {ratio / (1 + half), ratio * (1 + half)}, 0.02}};
}

std::vector<SelfTestComparison> believable() {
  std::vector<SelfTestComparison> all(98, compared(false, Change::unchanged));
  all.resize(100, compared(false, Change::worse, 1.03));
  all.resize(195, compared(true, Change::worse, 1.05));
  all.resize(200, compared(true, Change::too_noisy, 1.05, 0.04));
  return all;
}

TEST(SelfTestSummaryOf, CountsWhatMatters) {
  const SelfTestSummary summary = summary_of(believable());
  EXPECT_EQ(summary.equals, 100);
  EXPECT_EQ(summary.called_different, 2);
  EXPECT_EQ(summary.planted, 100);
  EXPECT_EQ(summary.found, 95);
  EXPECT_EQ(summary.wrong, 2);
  EXPECT_EQ(summary.too_noisy, 5);
  EXPECT_EQ(summary.exit_code, exit_code::ok);
  EXPECT_NEAR(summary.floor, 0.03, 1e-12);
  EXPECT_NEAR(summary.visible, 1.01 * 1.02 - 1, 1e-12);
}

TEST(SelfTestSummaryOf, OneMoreDifferenceBetweenEqualsCannotBeBelieved) {
  auto all = believable();
  all.front().judged.change = Change::improved;
  EXPECT_EQ(summary_of(all).exit_code, exit_code::falls_short);
}

TEST(SelfTestSummaryOf, OneFindLessIsTooNoisy) {
  auto all = believable();
  all[100].judged.change = Change::too_noisy;
  EXPECT_EQ(summary_of(all).exit_code, exit_code::too_noisy);
}

TEST(SelfTestSummaryOf, APlantedDifferenceCalledNoneCannotBeBelieved) {
  for (const Change wrong : {Change::unchanged, Change::improved}) {
    auto all = believable();
    all[100].judged.change = wrong;
    const SelfTestSummary summary = summary_of(all);
    EXPECT_EQ(summary.wrong, 3);
    EXPECT_EQ(summary.exit_code, exit_code::falls_short);
  }
}

SelfTestComparison canary(Change change, double ratio = 1) {
  SelfTestComparison comparison = compared(false, change, ratio);
  comparison.canary = "events own.event: invoke listeners=10";
  return comparison;
}

TEST(SelfTestSummaryOf, CanariesAreCountedApart) {
  auto all = believable();
  all.resize(206, canary(Change::unchanged));
  const SelfTestSummary summary = summary_of(all);
  EXPECT_EQ(summary.equals, 100);
  EXPECT_EQ(summary.canaries, 6);
  EXPECT_EQ(summary.canaries_equal, 6);
  EXPECT_EQ(summary.exit_code, exit_code::ok);
  EXPECT_NEAR(summary.floor, 0.03, 1e-12);
  EXPECT_TRUE(says(summary.text(), "6 of 6 equal"));
}

TEST(SelfTestSummaryOf, OneCanaryThatDiffersCannotBeBelieved) {
  for (const Change different : {Change::improved, Change::worse}) {
    auto all = believable();
    all.resize(205, canary(Change::unchanged));
    all.push_back(canary(different, 1.07));
    const SelfTestSummary summary = summary_of(all);
    EXPECT_EQ(summary.canaries_different, 1);
    EXPECT_EQ(summary.exit_code, exit_code::falls_short);
    EXPECT_TRUE(says(summary.text(), "own.event: invoke listeners=10: different, 1.070"));
  }
}

TEST(SelfTestSummaryOf, OneCanaryThatIsTooNoisyIsNotEqual) {
  auto all = believable();
  all.resize(205, canary(Change::unchanged));
  all.push_back(canary(Change::too_noisy, 1.01));
  all.back().disturbed = "other processes took 1.00 CPUs";
  const SelfTestSummary summary = summary_of(all);
  EXPECT_EQ(summary.canaries_equal, 5);
  EXPECT_EQ(summary.disturbed, 0);  // of the chains
  EXPECT_EQ(summary.exit_code, exit_code::too_noisy);
  EXPECT_TRUE(says(summary.text(), "too noisy to tell, 1.010"));
}

TEST(SelfTestSummaryOf, ADisturbedMachineIsTooNoisyAndNeverWrong) {
  auto all = believable();
  for (SelfTestComparison& comparison : all) {
    comparison.disturbed = "other processes took 1.00 CPUs";
    comparison.judged.change = Change::too_noisy;
  }
  const SelfTestSummary summary = summary_of(all);
  EXPECT_EQ(summary.disturbed, 200);
  EXPECT_EQ(summary.wrong, 0);
  EXPECT_EQ(summary.floor, 0);  // nothing that can be believed says anything about it
  EXPECT_EQ(summary.exit_code, exit_code::too_noisy);
}

}  // namespace

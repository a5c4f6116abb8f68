// SPDX-License-Identifier: MIT
//
// cpu_budget on fake roots of every kind of cgroup set-up, good and bad, and on a real quota where
// this machine lets us make one.
#include "support/child.hpp"
#include "support/fake_root.hpp"
#include "support/files.hpp"
#include "support/fresh_process.hpp"
#include "support/test.hpp"

namespace {

using handoff::sync::cpu_budget;
using handoff::sync::CpuBudget;
using handoff::test::FakeRoot;
using File = FakeRoot::File;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  std::vector<File> files;
  double quota = kUnlimited;
  unsigned width = 8;  // of 8 CPUs
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<File> operator+(std::vector<File> files, const std::vector<File>& more) {
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

// The two files of /proc for a process in `group`, with other mounts around the one that counts.
std::vector<File> v2(const std::string& group, const std::string& mount_root = "/",
                     const std::string& mount_point = "/sys/fs/cgroup") {
  return {{"/proc/self/cgroup", "0::" + group + "\n"},
          {"/proc/self/mountinfo",
           "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
           "30 22 0:26 " +
               mount_root + " " + mount_point +
               " rw,nosuid,relatime shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n"
               "31 22 0:27 / /sys/fs/bpf rw,relatime - bpf bpf rw\n"}};
}

std::vector<File> v1(const std::string& group, const std::string& mount_root = "/",
                     const std::string& controllers = "cpu,cpuacct") {
  const std::string point = "/sys/fs/cgroup/" + controllers;
  return {{"/proc/self/cgroup", "7:memory:/elsewhere\n4:" + controllers + ":" + group +
                                    "\n2:cpuset:/elsewhere\n1:name=systemd:/elsewhere\n"},
          {"/proc/self/mountinfo",
           "40 39 0:30 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
           "41 40 0:31 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
           "42 40 0:32 " +
               mount_root + " " + point + " rw,relatime - cgroup cgroup rw," + controllers +
               "\n"
               "43 40 0:33 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"}};
}

std::vector<File> cpu_max(const std::string& group, const std::string& text,
                          const std::string& mount_point = "/sys/fs/cgroup") {
  return {{mount_point + group + "/cpu.max", text}};
}

std::vector<File> cfs(const std::string& group, const std::string& quota, const std::string& period,
                      const std::string& controllers = "cpu,cpuacct") {
  const std::string folder = "/sys/fs/cgroup/" + controllers + group;
  return {{folder + "/cpu.cfs_quota_us", quota}, {folder + "/cpu.cfs_period_us", period}};
}

std::vector<Case> cases_of_limits() {
  return {
      {"v2_no_limit", v2("/a") + cpu_max("/a", "max 100000\n")},
      {"v2_two_cpus", v2("/a") + cpu_max("/a", "200000 100000\n"), 2.0, 2},
      {"v2_rounds_up", v2("/a") + cpu_max("/a", "150000 100000\n"), 1.5, 2},
      {"v2_exact_stays", v2("/a") + cpu_max("/a", "300000 100000\n"), 3.0, 3},
      {"v2_just_above", v2("/a") + cpu_max("/a", "300001 100000\n"), 3.00001, 4},
      {"v2_quota_below_period", v2("/a") + cpu_max("/a", "50000 100000\n"), 0.5, 1},
      {"v2_smallest_quota", v2("/a") + cpu_max("/a", "1000 1000000\n"), 0.001, 1},
      {"v2_odd_period", v2("/a") + cpu_max("/a", "62500 25000\n"), 2.5, 3},
      {"v2_beyond_the_cpus", v2("/a") + cpu_max("/a", "6400000 100000\n"), 64.0, 8},
      {"v2_no_file", v2("/a")},
      {"v2_root_group", v2("/") + cpu_max("/", "400000 100000\n"), 4.0, 4},
      {"v2_carriage_returns",
       std::vector<File>{
           {"/proc/self/cgroup", "0::/a\r\n"},
           {"/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\r\n"}} +
           cpu_max("/a", "300000 100000\r\n"),
       3.0, 3},
      {"v2_more_blanks_than_needed", v2("/a") + cpu_max("/a", "  300000   100000 \n"), 3.0, 3},
      {"v2_no_line_end", v2("/a") + cpu_max("/a", "300000 100000"), 3.0, 3},
  };
}

std::vector<Case> cases_of_paths() {
  return {
      {"v2_nested_parent_is_smaller",
       v2("/a/b/c") + cpu_max("/a", "200000 100000\n") + cpu_max("/a/b", "max 100000\n") +
           cpu_max("/a/b/c", "700000 100000\n"),
       2.0, 2},
      {"v2_nested_child_is_smaller",
       v2("/a/b") + cpu_max("/a", "600000 100000\n") + cpu_max("/a/b", "100000 100000\n"), 1.0, 1},
      {"v2_middle_has_no_file",
       v2("/a/b/c") + cpu_max("/a", "300000 100000\n") + cpu_max("/a/b/c", "500000 100000\n"), 3.0,
       3},
      {"v2_sibling_does_not_count",
       v2("/a") + cpu_max("/a", "max 100000\n") + cpu_max("/ab", "100000 100000\n")},
      {"v2_mount_shows_a_subtree",
       v2("/pod/box", "/pod") + cpu_max("", "500000 100000\n") + cpu_max("/box", "300000 100000\n"),
       3.0, 3},
      {"v2_mount_of_the_own_group", v2("/pod/box", "/pod/box") + cpu_max("", "200000 100000\n"),
       2.0, 2},
      {"v2_mount_of_a_like_named_group", v2("/pod2/box", "/pod") + cpu_max("", "100000 100000\n")},
      {"v2_namespace_below_the_mount", v2("/", "/..") + cpu_max("", "200000 100000\n"), 2.0, 2},
      {"v2_outside_the_namespace_but_in_the_mount",
       v2("/../other/x", "/..") + cpu_max("", "max 100000\n") +
           cpu_max("/other", "300000 100000\n") + cpu_max("/other/x", "500000 100000\n"),
       3.0, 3},
      {"v2_two_above_of_which_one_is_known",
       v2("/../other", "/../..") + cpu_max("", "400000 100000\n") +
           cpu_max("/other", "100000 100000\n"),
       4.0, 4},
      {"v2_outside_the_mount", v2("/../other", "/") + cpu_max("", "100000 100000\n") +
                                   cpu_max("/other", "100000 100000\n")},
      {"v2_far_outside_the_mount", v2("/../../x", "/..") + cpu_max("", "100000 100000\n")},
      {"v2_mounted_elsewhere",
       v2("/a", "/", "/run/groups") + cpu_max("/a", "300000 100000\n", "/run/groups"), 3.0, 3},
      {"v2_blanks_in_the_mount_point",
       v2("/a", "/", "/my\\040cgroup\\011dir\\134") +
           cpu_max("/a", "300000 100000\n", "/my cgroup\tdir\\"),
       3.0, 3},
      {"v2_blanks_in_the_group",
       v2("/my box/in", "/my\\040box") + cpu_max("/in", "300000 100000\n"), 3.0, 3},
      {"v2_all_octal_digits_in_the_group",
       v2("/it's\x7f/in", "/it\\047s\\177") + cpu_max("/in", "300000 100000\n"), 3.0, 3},
      {"v2_colon_in_the_group", v2("/a:b:c") + cpu_max("/a:b:c", "300000 100000\n"), 3.0, 3},
  };
}

std::vector<Case> cases_of_garbage() {
  return {
      {"nothing_there", {}},
      {"empty_files", {{"/proc/self/cgroup", ""}, {"/proc/self/mountinfo", ""}}},
      {"no_mountinfo",
       std::vector<File>{{"/proc/self/cgroup", "0::/a\n"}} + cpu_max("/a", "100000 100000\n")},
      {"no_cgroup_file", std::vector<File>{v2("/a")[1]} + cpu_max("/a", "100000 100000\n")},
      {"cgroup_file_of_garbage",
       std::vector<File>{{"/proc/self/cgroup", "\n:\n::\n0\n0:\n0:cpu\n\xff\xfe:::\n"},
                         v2("/a")[1]} +
           cpu_max("", "100000 100000\n")},
      {"mountinfo_cut_short", std::vector<File>{{"/proc/self/cgroup", "0::/a\n"},
                                                {"/proc/self/mountinfo",
                                                 "30\n- cgroup2\n30 22 0:26 / /sys/fs/cgroup rw -\n"
                                                 "30 22 0:26 / /sys/fs/cgroup - cgroup2\n"}} +
                                  cpu_max("/a", "100000 100000\n")},
      {"a_folder_for_a_file",
       v2("/a") + std::vector<File>{{"/sys/fs/cgroup/a/cpu.max/x", "100000 100000\n"}}},
      {"v2_empty_limit", v2("/a") + cpu_max("/a", "")},
      {"v2_words", v2("/a") + cpu_max("/a", "two cpus\n")},
      {"v2_one_number", v2("/a") + cpu_max("/a", "100000\n")},
      {"v2_three_numbers", v2("/a") + cpu_max("/a", "100000 100000 1\n")},
      {"v2_trailing_letters", v2("/a") + cpu_max("/a", "100000us 100000us\n")},
      {"v2_negative", v2("/a") + cpu_max("/a", "-1 100000\n")},
      {"v2_period_zero", v2("/a") + cpu_max("/a", "100000 0\n")},
      {"v2_quota_zero", v2("/a") + cpu_max("/a", "0 100000\n")},
      {"v2_overflow", v2("/a") + cpu_max("/a", "99999999999999999999999999 100000\n")},
      {"v2_huge", v2("/a") + cpu_max("/a", "18446744073709551615 1\n"), 18446744073709551615.0, 8},
      {"v2_garbage_below_a_limit",
       v2("/a/b") + cpu_max("/a", "200000 100000\n") + cpu_max("/a/b", "?\n"), 2.0, 2},
  };
}

std::vector<Case> cases_v1() {
  const std::string hybrid_mounts =
      v1("/box")[1].text + "44 40 0:34 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  return {
      {"v1_no_limit", v1("/a") + cfs("/a", "-1\n", "100000\n")},
      {"v1_one_digit_and_no_line_end", v1("/a") + cfs("/a", "6", "2"), 3.0, 3},
      {"v1_two_cpus", v1("/a") + cfs("/a", "200000\n", "100000\n"), 2.0, 2},
      {"v1_quota_below_period", v1("/a") + cfs("/a", "10000\n", "100000\n"), 0.1, 1},
      {"v1_cpu_alone", v1("/a", "/", "cpu") + cfs("/a", "250000\n", "100000\n", "cpu"), 2.5, 3},
      {"v1_cpu_last",
       v1("/a", "/", "cpuacct,cpu") + cfs("/a", "250000\n", "100000\n", "cpuacct,cpu"), 2.5, 3},
      {"v1_cpuacct_is_not_cpu",
       v1("/a", "/", "cpuacct") + cfs("/a", "100000\n", "100000\n", "cpuacct")},
      {"v1_nested_minimum",
       v1("/a/b") + cfs("/a", "300000\n", "100000\n") + cfs("/a/b", "800000\n", "200000\n"), 3.0,
       3},
      {"v1_container_sees_its_group_as_the_mount",
       v1("/docker/0123", "/docker/0123") + cfs("", "150000\n", "100000\n"), 1.5, 2},
      {"v1_no_period",
       v1("/a") + std::vector<File>{{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "100000\n"}}},
      {"v1_period_zero", v1("/a") + cfs("/a", "100000\n", "0\n")},
      {"v1_garbage", v1("/a") + cfs("/a", "lots\n", "100000\n")},
      {"v1_cpuset_is_left_to_the_affinity",
       v1("/a") + std::vector<File>{{"/sys/fs/cgroup/cpuset/a/cpuset.cpus", "0\n"}}},
      {"v1_file_names_do_not_count_in_v2",
       v2("/a") + std::vector<File>{{"/sys/fs/cgroup/a/cpu.cfs_quota_us", "100000\n"},
                                    {"/sys/fs/cgroup/a/cpu.cfs_period_us", "100000\n"}}},
      {"hybrid_limit_in_v1",
       std::vector<File>{{"/proc/self/cgroup", "4:cpu,cpuacct:/box\n0::/box\n"},
                         {"/proc/self/mountinfo", hybrid_mounts}} +
           cfs("/box", "400000\n", "100000\n"),
       4.0, 4},
      {"hybrid_limit_in_v2",
       std::vector<File>{{"/proc/self/cgroup", "4:memory:/box\n0::/box\n"},
                         {"/proc/self/mountinfo", hybrid_mounts}} +
           cfs("/box", "100000\n", "100000\n") +
           cpu_max("/box", "300000 100000\n", "/sys/fs/cgroup/unified"),
       3.0, 3},
      {"hybrid_smaller_of_both",
       std::vector<File>{{"/proc/self/cgroup", "4:cpu,cpuacct:/box\n0::/box\n"},
                         {"/proc/self/mountinfo", hybrid_mounts}} +
           cfs("/box", "400000\n", "100000\n") +
           cpu_max("/box", "600000 100000\n", "/sys/fs/cgroup/unified"),
       4.0, 4},
  };
}

class CpuBudgetRoots : public testing::TestWithParam<Case> {};

TEST_P(CpuBudgetRoots, SaysWhatTheGroupsSay) {
  const Case& c = GetParam();
  const FakeRoot root(c.files);
  const CpuBudget budget = cpu_budget({.root = root.path(), .affinity = 8});
  EXPECT_EQ(budget.affinity, 8U);
  EXPECT_DOUBLE_EQ(budget.quota, c.quota);
  EXPECT_EQ(budget.width(), c.width);
}

const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(limits, CpuBudgetRoots, testing::ValuesIn(cases_of_limits()), name_of);
INSTANTIATE_TEST_SUITE_P(paths, CpuBudgetRoots, testing::ValuesIn(cases_of_paths()), name_of);
INSTANTIATE_TEST_SUITE_P(v1, CpuBudgetRoots, testing::ValuesIn(cases_v1()), name_of);
INSTANTIATE_TEST_SUITE_P(garbage, CpuBudgetRoots, testing::ValuesIn(cases_of_garbage()), name_of);

TEST(CpuBudget, AffinityIsTheKernelsUnlessGiven) {
  const FakeRoot nothing({});
  cpu_set_t mask;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  const CpuBudget budget = cpu_budget({.root = nothing.path(), .affinity = 0});
  EXPECT_EQ(budget.affinity, static_cast<unsigned>(CPU_COUNT(&mask)));
  EXPECT_EQ(budget.width(), budget.affinity);
}

TEST(CpuBudget, AnAffinityOfOneIsAWidthOfOne) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const CpuBudget budget = cpu_budget();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(budget.affinity, 1U);
  EXPECT_EQ(budget.width(), 1U);
}

TEST(CpuBudget, LeavesNoFileOpen) {
  const auto before = handoff::test::open_descriptors();
  for (int i = 0; i < 3; ++i) EXPECT_GE(cpu_budget().width(), 1U);
  EXPECT_EQ(handoff::test::open_descriptors(), before);
}

// What a daemon has closed is the first number that open() gives out.
TEST(CpuBudget, IsReadInAProcessWithoutAnInput) {
  const FakeRoot root(v2("/a") + cpu_max("/a", "200000 100000\n"));
  const int input = ::dup(STDIN_FILENO);
  ASSERT_GE(input, 0);
  ::close(STDIN_FILENO);
  const double quota = cpu_budget({.root = root.path(), .affinity = 8}).quota;
  const bool closed_again = ::fcntl(STDIN_FILENO, F_GETFD) < 0;
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  EXPECT_EQ(quota, 2.0);
  EXPECT_TRUE(closed_again);
}

TEST(CpuBudget, AnOldErrorNumberDoesNotMatter) {
  const FakeRoot root(v2("/a") + cpu_max("/a", "200000 100000\n"));
  errno = EINTR;
  EXPECT_EQ(cpu_budget({.root = root.path(), .affinity = 8}).quota, 2.0);
}

TEST(CpuBudget, WidthIsNeverZero) {
  EXPECT_EQ((CpuBudget{1, 0.001}.width()), 1U);
  EXPECT_EQ((CpuBudget{4, 0.0}.width()), 1U);
  EXPECT_EQ((CpuBudget{4, kUnlimited}.width()), 4U);
  EXPECT_EQ((CpuBudget{4096, 2048.5}.width()), 2049U);
}

// A group with a quota of its own, made below whatever hierarchy of this machine limits CPU time.
class RealGroup {
 public:
  // Tries the v1 mounts, then v2; says in why_not() if none can be used.
  explicit RealGroup(int quota_us) {
    const std::string name = "/handoff_cpu_budget_test_" + std::to_string(::getpid());
    for (const char* mount :
         {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"}) {
      std::error_code error;
      const std::string folder = mount + name;
      if (!std::filesystem::create_directory(folder, error)) {
        why_not_ += " " + folder + ": " + error.message() + ";";
        continue;
      }
      if (limit(folder, quota_us)) {
        folder_ = folder;
        return;
      }
      why_not_ += " " + folder + " takes no quota;";
      std::filesystem::remove(folder, error);
    }
  }
  ~RealGroup() {
    std::error_code ignored;
    if (usable()) std::filesystem::remove(folder_, ignored);
  }
  RealGroup(const RealGroup&) = delete;
  RealGroup& operator=(const RealGroup&) = delete;

  bool usable() const { return !folder_.empty(); }
  const std::string& why_not() const { return why_not_; }

  // In a child: joins the group for the rest of its life.
  bool enter() const { return write(folder_ + "/cgroup.procs", "0"); }

 private:
  static bool write(const std::string& path, const std::string& text) {
    if (!std::filesystem::exists(path)) return false;
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
  }
  static bool limit(const std::string& folder, int quota_us) {
    const std::string quota = std::to_string(quota_us);
    return write(folder + "/cpu.max", quota + " 100000") ||
           (write(folder + "/cpu.cfs_period_us", "100000") &&
            write(folder + "/cpu.cfs_quota_us", quota));
  }

  std::string folder_;
  std::string why_not_;
};

// What `child` returns in a process that lives under the quota; kNotLetIn if the group did not take
// it.
constexpr int kNotLetIn = 255;

template <class Child>
int under_quota(const RealGroup& group, Child child) {
  return handoff::test::in_child([&] { return group.enter() ? child() : kNotLetIn; });
}

TEST(CpuBudget, SeesARealQuota) {
  for (const int quota_us : {50'000, 100'000, 150'000}) {
    const RealGroup group(quota_us);
    if (!group.usable()) GTEST_SKIP() << "no cgroup with a CPU quota here:" << group.why_not();
    const int percent = under_quota(group, [] { return int(cpu_budget().quota * 100.0 + 0.5); });
    if (percent == kNotLetIn) GTEST_SKIP() << "the kernel lets no process into the group";
    EXPECT_EQ(percent, quota_us / 1000);
  }
}

// spin_policy() asks once in the life of a process, and other tests may have asked in this one: a
// fresh process runs this test again, under a quota.
TEST(SpinPolicy, NeverSpinsBelowAQuotaOfTwo) {
  constexpr const char* kUnderQuota = "HANDOFF_TEST_UNDER_QUOTA";
  if (::getenv(kUnderQuota) != nullptr) {
    EXPECT_EQ(cpu_budget().quota, 1.5);
    EXPECT_EQ(handoff::sync::spin_policy(), handoff::sync::Spin::never);
    return;
  }
  const RealGroup group(150'000);
  if (!group.usable()) GTEST_SKIP() << "no cgroup with a CPU quota here:" << group.why_not();
  const int status = under_quota(group, [] {
    ::setenv(kUnderQuota, "1", 1);
    ::execl("/proc/self/exe", "unit_sync", "--gtest_brief=1",
            "--gtest_filter=SpinPolicy.NeverSpinsBelowAQuotaOfTwo", nullptr);
    return 254;
  });
  if (status == kNotLetIn) GTEST_SKIP() << "the kernel lets no process into the group";
  EXPECT_EQ(status, 0);
}

// Those of the main thread, not of the first thread that asks.
TEST(SpinPolicy, SpinsWhereTwoCanRun) {
  constexpr const char* kCpus = "HANDOFF_TEST_CPUS";
  cpu_set_t mask;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  const char* const cpus = ::getenv(kCpus);
  if (cpus == nullptr) {
    if (CPU_COUNT(&mask) < 2) GTEST_SKIP() << "one CPU";
    for (const char* count : {"1", "2"}) {
      EXPECT_EQ(handoff::test::in_fresh_process("SpinPolicy.SpinsWhereTwoCanRun", kCpus, count), 0)
          << count;
    }
    return;
  }
  const int count = std::atoi(cpus);
  for (std::size_t cpu = CPU_SETSIZE; CPU_COUNT(&mask) > count;) CPU_CLR(--cpu, &mask);
  ASSERT_EQ(::sched_setaffinity(0, sizeof mask, &mask), 0);
  const bool two_at_once = count == 2 && cpu_budget().quota >= 2.0;
  EXPECT_EQ(handoff::sync::spin_policy(),
            two_at_once ? handoff::sync::Spin::allowed : handoff::sync::Spin::never);
}

}  // namespace

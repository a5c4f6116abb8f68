// SPDX-License-Identifier: MIT
//
// memory_left() on fake roots of both kinds of cgroup, and SharedMemory::create() in a real one
// where this machine lets us make one.
#include "process/memory_left.hpp"
#include "support/child.hpp"
#include "support/fake_root.hpp"
#include "support/test.hpp"
#include "unit/process/control_group.hpp"

namespace memory_left_test { namespace {

using namespace handoff;
using handoff::detail::memory_left;
using handoff::test::FakeRoot;
using File = FakeRoot::File;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

std::string number(std::uint64_t value) { return std::to_string(value) + "\n"; }

File meminfo(std::uint64_t available, std::uint64_t swap) {
  return {"/proc/meminfo", "MemTotal:       99999999 kB\nMemFree:         1 kB\nMemAvailable:   " +
                               std::to_string(available / 1024) +
                               " kB\nSwapFree:       " + std::to_string(swap / 1024) + " kB\n"};
}

std::vector<File> v2(std::vector<File> more) {
  more.push_back({"/proc/self/cgroup", "0::/a/b\n"});
  more.push_back({"/proc/self/mountinfo", "30 22 0:26 / /cg rw - cgroup2 cgroup2 rw\n"});
  return more;
}
std::vector<File> v1(std::vector<File> more) {
  more.push_back({"/proc/self/cgroup", "4:memory:/a\n3:cpu:/other\n"});
  more.push_back({"/proc/self/mountinfo", "42 40 0:32 / /cg rw - cgroup cgroup rw,memory\n"});
  return more;
}

std::uint64_t left(const std::vector<File>& files) { return memory_left(FakeRoot(files).path()); }
// Without the part that is the kernel's.
std::uint64_t usable(std::uint64_t bytes, std::uint64_t limit) { return bytes - limit / 32; }

TEST(MemoryLeft, IsWhatTheMachineSays) {
  EXPECT_EQ(left({}), kUnknown);
  EXPECT_EQ(left({meminfo(100 * kMiB, 0)}), 100 * kMiB);
  EXPECT_EQ(left({meminfo(100 * kMiB, 7 * kMiB)}), 107 * kMiB);
  EXPECT_EQ(left({{"/proc/meminfo", "MemAvailable: none\n"}}), kUnknown);
}

TEST(MemoryLeft, IsWhatTheGroupsOfVersionTwoLeave) {
  const File machine = meminfo(1000 * kMiB, 50 * kMiB);
  const auto group = [](const std::string& folder, const std::string& limit, std::uint64_t used) {
    return std::vector<File>{{"/cg" + folder + "/memory.max", limit},
                             {"/cg" + folder + "/memory.current", number(used)}};
  };
  const auto join = [](std::vector<File> files, const std::vector<File>& more) {
    files.insert(files.end(), more.begin(), more.end());
    return files;
  };
  const auto limited = join(group("/a/b", number(100 * kMiB), 30 * kMiB), {machine});
  EXPECT_EQ(left(v2(limited)), usable(70 * kMiB, 100 * kMiB) + 50 * kMiB);
  EXPECT_EQ(left(v2(join(limited, {{"/cg/a/b/memory.swap.max", "0\n"},
                                   {"/cg/a/b/memory.swap.current", "0\n"}}))),
            usable(70 * kMiB, 100 * kMiB));
  EXPECT_EQ(left(v2(join(limited, {{"/cg/a/b/memory.swap.max", number(20 * kMiB)},
                                   {"/cg/a/b/memory.swap.current", number(5 * kMiB)}}))),
            usable(85 * kMiB, 100 * kMiB));
  EXPECT_EQ(left(v2(join(limited, {{"/cg/a/b/memory.stat",
                                    "anon 5\ninactive_file 4194304\nactive_file 1048576\n"}}))),
            usable(75 * kMiB, 100 * kMiB) + 50 * kMiB)
      << "what is in the page cache can be taken back";
  EXPECT_EQ(left(v2(join(group("/a/b", "max\n", 30 * kMiB), {machine}))), 1050 * kMiB);
  const auto parent = join(group("/a", number(64 * kMiB), 60 * kMiB), limited);
  EXPECT_EQ(left(v2(parent)), usable(4 * kMiB, 64 * kMiB) + 50 * kMiB) << "the outer one";
  const auto beyond = join(group("/a/b", number(100 * kMiB), 101 * kMiB), {meminfo(kMiB, 0)});
  EXPECT_EQ(left(v2(beyond)), 0U);
}

TEST(MemoryLeft, IsWhatTheGroupsOfVersionOneLeave) {
  const File machine = meminfo(1000 * kMiB, 50 * kMiB);
  const std::vector<File> limited{machine,
                                  {"/cg/a/memory.limit_in_bytes", number(100 * kMiB)},
                                  {"/cg/a/memory.usage_in_bytes", number(30 * kMiB)},
                                  {"/cg/a/memory.stat",
                                   "inactive_file 1\ntotal_inactive_file 2097152\n"
                                   "total_active_file 1048576\n"},
                                  {"/cg/memory.limit_in_bytes", "9223372036854771712\n"},
                                  {"/cg/memory.usage_in_bytes", number(500 * kMiB)}};
  EXPECT_EQ(left(v1(limited)), usable(73 * kMiB, 100 * kMiB) + 50 * kMiB);
  auto both = limited;
  both.push_back({"/cg/a/memory.memsw.limit_in_bytes", number(100 * kMiB)});
  both.push_back({"/cg/a/memory.memsw.usage_in_bytes", number(40 * kMiB)});
  EXPECT_EQ(left(v1(both)), usable(63 * kMiB, 100 * kMiB));
}

TEST(MemoryLeft, ManySmallOnesAreAskedForToo) {
  detail::MemoryCredit credit;
  EXPECT_FALSE(credit.take(1));
  credit.grant(100);
  EXPECT_TRUE(credit.take(60));
  EXPECT_FALSE(credit.take(60));
  EXPECT_TRUE(credit.take(40));
  EXPECT_FALSE(credit.take(1));
}

// How a child ended that makes memories of `bytes` each in the group: with 10 and how many it had.
int ending_in(const test::ControlGroup& group, std::size_t bytes, int most) {
  return test::in_child([&] {
    const std::string processes = group.path() + "/cgroup.procs";
    if (!test::ControlGroup::write(processes, std::to_string(::getpid()))) return 1;
    std::vector<SharedMemory> all;
    try {
      while (static_cast<int>(all.size()) < most) {
        all.push_back(SharedMemory::create({.bytes = bytes}));
      }
    } catch (const std::system_error& error) {
      if (error.code().value() != ENOMEM) return 2;
    }
    return 10 + static_cast<int>(all.size());
  });
}

TEST(MemoryLeft, ACgroupIsAnErrorAndNoKill) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer has its own memory in the group";
  const test::ControlGroup group("memory", {"memory.limit_in_bytes", "memory.max"}, 100 * kMiB);
  if (group.path().empty()) GTEST_SKIP() << "no cgroup of one's own here";
  if (ending_in(group, kMiB, 1) == 1) GTEST_SKIP() << "it cannot be entered";
  EXPECT_EQ(ending_in(group, 200 * kMiB, 1), 10) << "more than the group has";
  EXPECT_EQ(ending_in(group, 60 * kMiB, 1), 11) << "what it has can be had";
  const int many = ending_in(group, 8 * kMiB, 30);
  EXPECT_GT(many, 15) << "in small pieces too, and then it is an error";
  EXPECT_LT(many, 40);
}

}}  // namespace memory_left_test

// SPDX-License-Identifier: MIT
//
// ThreadTeam under real threads: ten thousand runs of random shape, every index exactly once.
// No failure in n runs bounds the rate of wrong ones below 3/n (95 %).
#include <gtest/gtest.h>

#include <atomic>
#include <handoff/team/thread_team.hpp>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "support/support.hpp"

namespace {

using handoff::IndexRange;
using handoff::RunOptions;
using handoff::Tally;
using handoff::ThreadTeam;

// Teams of many widths, kept, since a run must also be right on a team that has run before.
class Teams {
 public:
  ThreadTeam& of(std::size_t width) {
    auto& team = teams_[width - 1];
    if (!team) team = std::make_unique<ThreadTeam>(handoff::ThreadTeamOptions{.width = width});
    return *team;
  }
  static constexpr std::size_t most = 12;

 private:
  std::unique_ptr<ThreadTeam> teams_[most];
};

TEST(ThreadTeamStress, EveryIndexExactlyOnce) {
  auto random = handoff::test::random();
  Teams teams;
  for (int round = 0; round < 10'000; ++round) {
    const std::size_t width = 1 + random() % Teams::most;
    const std::size_t count = random() % (random() % 10 == 0 ? 5'000 : 100);
    const RunOptions options{.block = random() % 4 == 0 ? random() % 50 : 0};
    std::vector<unsigned char> times(count);  // plain bytes: the run alone keeps members apart
    const Tally tally = teams.of(width).run(
        count,
        [&](IndexRange range) {
          for (const std::size_t i : range) ++times[i];
        },
        options);
    ASSERT_EQ(tally.done, count);
    ASSERT_TRUE(tally.balanced());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(times[i], 1) << "index " << i << " of " << count << ", width " << width
                             << ", block " << options.block << ", round " << round;
    }
  }
}

TEST(ThreadTeamStress, FailuresAndStopsAreCountedExactly) {
  auto random = handoff::test::random(1);
  Teams teams;
  const std::size_t rounds = handoff::test::rounds(4'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t width = 1 + random() % 6;
    const std::size_t count = 1 + random() % 500;
    const std::size_t throw_one_in = 1 + random() % 50;
    const std::size_t stop_at = random() % (4 * count);
    std::stop_source source;
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> failed{0};
    ThreadTeam& team = teams.of(width);
    try {
      team.run(count,
               [&](IndexRange range) {
                 if (range.first <= stop_at && stop_at < range.last) source.request_stop();
                 if (range.first % throw_one_in == 0) {
                   failed += range.size();
                   throw std::runtime_error("planned");
                 }
                 done += range.size();
               },
               {.stop = source.get_token()});
      ASSERT_EQ(failed, 0U);
    } catch (const std::runtime_error&) {
      ASSERT_GT(failed, 0U);
    }
    const Tally& tally = team.tally();
    ASSERT_EQ(tally.accepted, count);
    ASSERT_EQ(tally.done, done);
    ASSERT_EQ(tally.failed, failed);
    ASSERT_TRUE(tally.balanced());
  }
}

TEST(ThreadTeamStress, ComesAndGoes) {
  auto random = handoff::test::random(2);
  const std::size_t rounds = handoff::test::rounds(3'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    ThreadTeam team({.width = 1 + random() % 4});
    const std::size_t runs = random() % 3;
    for (std::size_t i = 0; i < runs; ++i) {
      ASSERT_EQ(team.run(1 + random() % 9, [](IndexRange) {}).balanced(), true);
    }
  }
}

// The same harness must see a team that does an index twice or never.
TEST(ThreadTeamStress, CanaryTheCountSeesAWrongBlock) {
  ThreadTeam team({.width = 2});
  std::vector<unsigned char> times(100);
  team.run(times.size(), [&](IndexRange range) {
    if (range.first == 0) range.last -= 1;  // loses one index of the first block
    for (const std::size_t i : range) ++times[i];
  });
  EXPECT_NE(times, std::vector<unsigned char>(100, 1));
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// The loops of core/parallel_for.hpp on a ThreadTeam.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <handoff/core/parallel_for.hpp>
#include <handoff/team/thread_team.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/loop_forms.hpp"

namespace {

using namespace handoff;

TEST(ParallelForOnATeam, EachIndexOnce) {
  for (const std::size_t width : {1U, 2U, 7U}) {
    ThreadTeam team({.width = width});
    for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 10'000U}) {
      std::vector<unsigned char> times(count + 10);  // plain bytes: the loop keeps threads apart
      parallel_for(team, 10, count + 10, [&](std::size_t i) { ++times[i]; });
      for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 10 ? 0 : 1);
    }
    parallel_for(team, 5, 4, [](std::size_t) { FAIL(); });
    std::atomic<std::size_t> sum{0};
    parallel_for(team, 5, 100, [&](IndexRange range) { sum += range.size(); });
    EXPECT_EQ(sum, 95U);
  }
}

TEST(ParallelForOnATeam, TakesEveryForm) {
  for (const std::size_t width : {1U, 3U}) {
    ThreadTeam team(width);
    test::expect_all_loop_forms(team);
  }
}

// Both must be inside at once, or this hangs.
TEST(ParallelForOnATeam, CallsOthers) {
  ThreadTeam team({.width = 2});
  std::atomic<int> inside{0};
  parallel_for(team, 0, 2, [&](std::size_t) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
  });
}

// What is left when a block has thrown is left out, as in every loop.
TEST(ParallelForOnATeam, TheFirstFailureIsRethrownAndTheRestLeftOut) {
  ThreadTeam team({.width = 1});
  std::size_t ran = 0;
  EXPECT_THROW(parallel_for(team, 0, 100'000,
                            [&](std::size_t) {
                              ++ran;
                              throw std::runtime_error("planned");
                            }),
               std::runtime_error);
  EXPECT_EQ(ran, 1U);
  ThreadTeam wide({.width = 3});
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(parallel_for(wide, 0, 1000,
                              [&](std::size_t i) {
                                if (i == 500) throw 1;
                              }),
                 int);
  }
  parallel_for(wide, 0, 10, [](std::size_t) {});
}

TEST(ParallelForOnATeam, InsideItsOwnBlocksIsMisuse) {
  ThreadTeam team({.width = 2});
  EXPECT_THROW(
      parallel_for(team, 0, 2, [&](std::size_t) { parallel_for(team, 0, 2, [](std::size_t) {}); }),
      std::logic_error);
}

TEST(ParallelReduceOnATeam, IsTheSameOnAnyWidth) {
  ThreadTeam one({.width = 1});
  ThreadTeam four({.width = 4});
  const auto sum = [](ThreadTeam& team) {
    return parallel_reduce(
        team, 0, 10'000, 0.0, [](std::size_t i) { return 1.0 / (1.0 + static_cast<double>(i)); },
        std::plus<>());
  };
  EXPECT_EQ(sum(one), sum(four));
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// Taking one from a count of what is left.
#include <gtest/gtest.h>

#include <cstdint>
#include <handoff/core/detail/take_one.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <thread>
#include <vector>

namespace {

using namespace handoff;
using detail::take_one;

constexpr sync::order kRelaxed = sync::order::relaxed;  // order: relaxed, read at rest

TEST(TakeOne, ReturnsHowManyThereWere) {
  sync::atomic<std::uint32_t> count(2);
  EXPECT_EQ(take_one(count), 2U);
  EXPECT_EQ(take_one(count), 1U);
  EXPECT_EQ(take_one(count), 0U);
  EXPECT_EQ(count.load(kRelaxed), 0U);
}

TEST(TakeOne, TakesNothingFromLessThanNothing) {
  sync::atomic<std::int64_t> count(-1);
  EXPECT_EQ(take_one(count), 0);
  EXPECT_EQ(count.load(kRelaxed), -1);
}

TEST(TakeOne, ThreadsTakeAsManyAsThereAre) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kCount = 10'000;
  sync::atomic<std::uint32_t> count(kCount);
  std::vector<std::uint32_t> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t& mine : taken) {
      threads.emplace_back([&] {
        while (take_one(count) != 0) ++mine;
      });
    }
  }
  std::uint32_t sum = 0;
  for (const std::uint32_t each : taken) sum += each;
  EXPECT_EQ(sum, kCount);
  EXPECT_EQ(count.load(kRelaxed), 0U);
}

}  // namespace

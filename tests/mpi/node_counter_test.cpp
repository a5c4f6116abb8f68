// SPDX-License-Identifier: MIT
//
// The counter of a node: threads claim each block once, and are told when there is none.
#include "mpi/node_counter.hpp"

#include "support/support.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

using detail::BlockNumber;
using detail::NodeCounter;
using Said = NodeCounter::Said;

// Threads claim what one of them lays out: each block once.
TEST(NodeCounter, ManyThreadsClaimEachBlockOnce) {
  constexpr std::uint32_t kNodeBlocks = 200;
  const auto blocks_of = [](std::uint32_t number) noexcept {
    return number == NodeCounter::no_block ? 0U : 1 + number % 7;
  };
  std::vector<std::vector<std::atomic<int>>> times(kNodeBlocks);
  for (std::uint32_t n = 0; n < kNodeBlocks; ++n) {
    times[n] = std::vector<std::atomic<int>>(blocks_of(n));
  }
  NodeCounter counter;
  for (std::size_t round = 0; round < rounds(10); ++round) {
    counter.open(false);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (BlockNumber number;;) {
          const Said said = counter.claim(number, blocks_of);
          if (said == Said::none_left) return;
          if (said == Said::not_yet) std::this_thread::yield();
          if (said == Said::claimed) ++times[number.of_node][number.in_node];
        }
      });
    }
    std::uint32_t last = NodeCounter::no_block;
    for (std::uint32_t next = 0; next < kNodeBlocks; ++next) {
      while (!counter.is_wanted(last)) std::this_thread::yield();
      counter.lay_out(last = next);
    }
    while (!counter.is_wanted(last)) std::this_thread::yield();
    counter.lay_out_end();
    for (std::thread& thread : threads) thread.join();
    for (auto& block : times) {
      for (auto& time : block) ASSERT_EQ(time.exchange(0), 1);
    }
  }
}

TEST(NodeCounter, ALoneNodeHasTheWorldsOnlyBlock) {
  NodeCounter counter;
  counter.open(true);
  const auto two = [](std::uint32_t number) noexcept { return number == 0 ? 2U : 0U; };
  BlockNumber number;
  for (std::uint32_t n = 0; n < 2; ++n) {
    ASSERT_EQ(counter.claim(number, two), Said::claimed);
    EXPECT_EQ(number.of_node, 0U);
    EXPECT_EQ(number.in_node, n);
  }
  EXPECT_EQ(counter.claim(number, two), Said::none_left);
  EXPECT_FALSE(counter.is_stopped());
  counter.stop();
  EXPECT_TRUE(counter.is_stopped());
  counter.open(true);
  EXPECT_FALSE(counter.is_stopped());
  EXPECT_EQ(counter.claim(number, two), Said::claimed);
}

TEST(NodeCounter, WhoFindsNothingYetIsTold) {
  NodeCounter counter;
  counter.open(false);
  const auto one = [](std::uint32_t number) noexcept { return number < 5 ? 1U : 0U; };
  BlockNumber number;
  EXPECT_EQ(counter.claim(number, one), Said::not_yet);
  EXPECT_TRUE(counter.is_wanted(NodeCounter::no_block));
  counter.lay_out(3);
  EXPECT_FALSE(counter.is_wanted(3)) << "nobody has taken it";
  EXPECT_EQ(counter.claim(number, one), Said::claimed);
  EXPECT_EQ(number.of_node, 3U);
  EXPECT_TRUE(counter.is_wanted(3));
  EXPECT_EQ(counter.claim(number, one), Said::not_yet);
}

}}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// BlockClaims: blocks tile the range, begin large, end small, and close takes exactly the rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <handoff/core/detail/block_claims.hpp>
#include <limits>

#include "support/support.hpp"

namespace {

using handoff::IndexRange;
using handoff::detail::BlockClaims;

TEST(BlockClaims, TileTheRangeInOrder) {
  auto random = handoff::test::random();
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t count = random() % 5'000;
    const std::size_t members = 1 + random() % 70;
    const std::size_t smallest = random() % 100;
    BlockClaims claims;
    claims.open(count, members, smallest);
    std::size_t next = 0;
    std::size_t blocks = 0;
    for (IndexRange block = claims.claim(); !block.empty(); block = claims.claim()) {
      ASSERT_EQ(block.first, next);
      ASSERT_TRUE(block.size() >= smallest || block.last == count);
      next = block.last;
      ++blocks;
    }
    ASSERT_EQ(next, count);
    ASSERT_LE(blocks, claims.most_blocks());
    ASSERT_FALSE(claims.left());
  }
}

TEST(BlockClaims, BeginWithAPartOfAMembersShareAndNeverGrow) {
  BlockClaims claims;
  claims.open(1000, 2, 1);
  std::size_t last = claims.claim().size();
  EXPECT_EQ(last, 250U);
  for (IndexRange block = claims.claim(); !block.empty(); block = claims.claim()) {
    EXPECT_LE(block.size(), last);
    last = block.size();
  }
  EXPECT_EQ(last, 1U);
}

TEST(BlockClaims, OneBlockAMemberIfAsked) {
  BlockClaims claims;
  claims.open(100, 3, 34);
  EXPECT_EQ(claims.claim(), (IndexRange{0, 34}));
  EXPECT_EQ(claims.claim(), (IndexRange{34, 68}));
  EXPECT_EQ(claims.claim(), (IndexRange{68, 100}));
  EXPECT_TRUE(claims.claim().empty());
  EXPECT_EQ(claims.most_blocks(), 3U);
}

TEST(BlockClaims, CloseTakesTheRestOnce) {
  BlockClaims claims;
  claims.open(100, 1, 30);
  EXPECT_EQ(claims.claim().size(), 50U);
  EXPECT_EQ(claims.close(), 50U);
  EXPECT_EQ(claims.close(), 0U);
  EXPECT_TRUE(claims.claim().empty());
}

TEST(BlockClaims, NothingAndEverythingThatFitsInASize) {
  BlockClaims claims;
  claims.open(0, 4, 1);
  EXPECT_TRUE(claims.claim().empty());
  EXPECT_EQ(claims.most_blocks(), 0U);
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  claims.open(all, 1, all);
  EXPECT_EQ(claims.most_blocks(), 1U);
  EXPECT_EQ(claims.claim(), (IndexRange{0, all}));
  EXPECT_TRUE(claims.claim().empty());
  claims.open(all, 1, 1);
  EXPECT_EQ(claims.claim().size(), all / 2);
  EXPECT_EQ(claims.close(), all - all / 2);
}

}  // namespace

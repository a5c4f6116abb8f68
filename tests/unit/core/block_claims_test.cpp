// SPDX-License-Identifier: MIT
//
// BlockClaims: blocks tile the range, begin large, end small, each member has its own part first,
// and close takes exactly the rest.
#include <handoff/core/detail/block_claims.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::BlockClaims;

TEST(BlockClaims, TileTheRangeInOrder) {
  auto random = test::random();
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

TEST(BlockClaims, BeginWithHalfOfAMembersShareAndNeverGrowInAPart) {
  BlockClaims claims;
  claims.open(1000, 2, 1);
  for (const std::size_t part : {0U, 500U}) {
    std::size_t last = 250;
    for (std::size_t next = part; next < part + 500;) {
      const IndexRange block = claims.claim();
      EXPECT_EQ(block.first, next);
      EXPECT_TRUE(next == part ? block.size() == 250 : block.size() <= last);
      last = block.size();
      next = block.last;
    }
    EXPECT_EQ(last, 1U);
  }
  EXPECT_TRUE(claims.claim().empty());
}

// What is written in a run is where it is read in the next one.
TEST(BlockClaims, AMemberBeginsInItsOwnPartAndHelpsThenInTheNext) {
  BlockClaims claims;
  for (int run = 0; run < 2; ++run) {
    claims.open(900, 3, 150);
    EXPECT_EQ(claims.claim(2), (IndexRange{600, 750}));
    EXPECT_EQ(claims.claim(0), (IndexRange{0, 150}));
    EXPECT_EQ(claims.claim(1), (IndexRange{300, 450}));
    EXPECT_EQ(claims.claim(4), (IndexRange{450, 600})) << "members beyond the parts share them";
    EXPECT_EQ(claims.claim(1), (IndexRange{750, 900}));
    EXPECT_TRUE(claims.left());
    EXPECT_EQ(claims.claim(1), (IndexRange{150, 300}));
    EXPECT_FALSE(claims.left());
    EXPECT_TRUE(claims.claim(0).empty());
  }
}

// Many members in few parts: none takes away what the others of its part should have.
TEST(BlockClaims, MembersThatShareAPartTakeASmallerPortion) {
  BlockClaims claims;
  claims.open(64'000, 64, 1);
  for (std::size_t member = 0; member < 64; ++member) {
    EXPECT_LE(claims.claim(member).size(), 500U) << "half of a share";
  }
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

TEST(BlockClaims, NoMoreThanIsAskedForButASmallestBlockAtLeast) {
  BlockClaims claims;
  claims.open(100, 1, 8);
  EXPECT_EQ(claims.claim(0, 10), (IndexRange{0, 10}));
  EXPECT_EQ(claims.claim(0, 1), (IndexRange{10, 18}));
  EXPECT_EQ(claims.claim(0, 1000), (IndexRange{18, 59})) << "half, as ever";
  EXPECT_EQ(claims.claim(0, 29), (IndexRange{59, 79}));
  EXPECT_EQ(claims.claim(0, 8), (IndexRange{79, 87}));
  EXPECT_EQ(claims.claim(0, 8), (IndexRange{87, 100})) << "less than a block would be left";
}

TEST(BlockClaims, CloseTakesTheRestOnce) {
  BlockClaims claims;
  claims.open(100, 1, 30);
  EXPECT_EQ(claims.claim().size(), 50U);
  EXPECT_EQ(claims.close(), 50U);
  claims.open(100, 2, 1);
  EXPECT_EQ(claims.claim(1).size(), 25U);
  EXPECT_EQ(claims.close(), 75U) << "of both parts";
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
  for (const std::size_t members : {2U, 3U, 8U, 1000U}) {
    for (const std::size_t smallest : {std::size_t{1}, all / 3, all / 2, all - 1, all}) {
      claims.open(all, members, smallest);
      const std::size_t claimed = claims.claim(1).size() + claims.claim(0).size();
      EXPECT_EQ(claims.close(), all - claimed);
      EXPECT_FALSE(claims.left());
    }
  }
}

}  // namespace

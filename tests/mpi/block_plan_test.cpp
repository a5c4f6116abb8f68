// SPDX-License-Identifier: MIT
//
// The plans of blocks: each index once, large blocks first, no overflow.
#include "mpi/block_plan.hpp"

#include "support/support.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

using detail::BlockPlan;
using detail::BlockSizes;
using detail::RankPlans;

// All blocks of a plan, which follow each other from 0 to the count.
std::vector<std::size_t> sizes_of(const BlockSizes& sizes) {
  const BlockPlan plan(sizes);
  std::vector<std::size_t> found;
  std::size_t next = 0;
  for (std::uint64_t n = 0; n < plan.blocks(); ++n) {
    const IndexRange block = plan.block(n);
    EXPECT_EQ(block.first, next) << "block " << n;
    EXPECT_FALSE(block.empty()) << "block " << n;
    found.push_back(block.size());
    next = block.last;
  }
  EXPECT_EQ(next, sizes.count);
  EXPECT_TRUE(plan.block(plan.blocks()).empty());
  EXPECT_TRUE(plan.block(plan.blocks() + 1000).empty());
  return found;
}

TEST(BlockPlan, HalfOfWhatIsLeftIsCutForAllClaimers) {
  EXPECT_EQ(sizes_of({.count = 16, .claimers = 2}),
            (std::vector<std::size_t>{4, 4, 2, 2, 1, 1, 1, 1}));
  EXPECT_EQ(sizes_of({.count = 20, .claimers = 2, .smallest = 3}),
            (std::vector<std::size_t>{5, 5, 3, 3, 3, 1}));
  EXPECT_EQ(sizes_of({.count = 20, .claimers = 2, .largest = 3}),
            (std::vector<std::size_t>{3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(BlockPlan, CoversEachIndexOnceInOrder) {
  auto draw = test::random(1);
  for (std::size_t round = 0; round < rounds(3000); ++round) {
    const BlockSizes sizes{.count = draw() % (round % 2 == 0 ? 20 : 5000),
                           .claimers = 1 + draw() % 40,
                           .smallest = draw() % 30,
                           .largest = draw() % 3 == 0 ? SIZE_MAX : draw() % 300};
    const std::vector<std::size_t> found = sizes_of(sizes);
    const std::size_t smallest = std::max<std::size_t>(sizes.smallest, 1);
    const std::size_t largest = std::max(sizes.largest, smallest);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_LE(found[i], largest);
      if (i == 0) continue;
      ASSERT_GE(found[i - 1], smallest);
      ASSERT_LE(found[i], found[i - 1]);
    }
  }
}

TEST(BlockPlan, CountsThatNoMachineHasDoNotOverflow) {
  for (const std::size_t count : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2}) {
    for (const std::size_t claimers : {1UL, 3UL, 4096UL}) {
      for (const std::size_t largest : {SIZE_MAX, std::size_t{1} << 33}) {
        const BlockPlan plan({.count = count, .claimers = claimers, .largest = largest});
        ASSERT_GT(plan.blocks(), 0U);
        EXPECT_EQ(plan.block(0).first, 0U);
        EXPECT_EQ(plan.block(plan.blocks() - 1).last, count);
        EXPECT_EQ(plan.block(plan.blocks() - 2).last, plan.block(plan.blocks() - 1).first);
      }
    }
  }
}

// A claim of a row costs little, as there are few: some for each halving.
TEST(BlockPlan, ALoopOfAMillionRowsHasFewBlocks) {
  EXPECT_LT(BlockPlan({.count = 1'000'000, .claimers = 8}).blocks(), 8U * 20);
}

TEST(RankPlans, ANodesBlocksCoverWhatItClaims) {
  const RankPlans plans{.count = 100'000, .nodes = 3, .width = 4, .smallest = 2};
  const BlockPlan world = plans.of_world();
  std::size_t covered = 0;
  for (std::uint64_t n = 0; n < world.blocks(); ++n) {
    const BlockPlan node = plans.of_node(world.block(n));
    covered += node.block(node.blocks() - 1).last;
    EXPECT_TRUE(node.blocks() >= 4 || n + 1 == world.blocks()) << "each thread has one at least";
  }
  EXPECT_EQ(covered, 100'000U);
  EXPECT_EQ((RankPlans{.count = 100, .nodes = 1}.of_world().blocks()), 1U);
  EXPECT_EQ((RankPlans{.count = 0, .nodes = 1}.of_world().blocks()), 0U);
}

}}  // namespace handoff::test

// SPDX-License-Identifier: MIT
// Where the launches of an overview go.
#include "harness/rung_order.hpp"

#include <gtest/gtest.h>

#include "harness/verdict.hpp"

namespace rung_order_test { namespace {

using namespace handoff::lab;

RungState open(std::size_t reported, std::size_t looks = 0) {
  return {.reported = reported, .looks = looks, .has_verdict = true, .seconds = 1};
}

RungState decided(std::size_t reported) {
  return {.reported = reported, .looks = 1, .has_verdict = true, .decided = true, .seconds = 1};
}

constexpr double enough = 100;

// A slow way once took all the time while it was chosen from, and no rung had anything to report.
TEST(Choosing, EndsWhereOneMoreLaunchWouldTakeTheTimeOfOthers) {
  EXPECT_TRUE(has_time_for_another(0, 0, 5));
  EXPECT_TRUE(has_time_for_another(2, 1, 4));
  EXPECT_TRUE(has_time_for_another(4, 2, 6));
  EXPECT_FALSE(has_time_for_another(4, 2, 5.9));
  EXPECT_FALSE(has_time_for_another(14, 1, 5));
}

TEST(Choosing, RepeatsADisturbedLaunchWhileThereIsTime) {
  EXPECT_TRUE(has_time_for_another(2, 0, 4));
  EXPECT_FALSE(has_time_for_another(3, 0, 4));
}

TEST(NextRung, IsTheOneWithTheFewestLaunches) {
  EXPECT_EQ(next_rung({open(6, 1), open(5, 1), open(7, 1)}, enough), 1U);
  EXPECT_EQ(next_rung({open(5, 1), open(5, 1)}, enough), 0U);
  EXPECT_EQ(next_rung({}, enough), std::nullopt);
}

TEST(NextRung, EachGetsTheLeastAndOnlyTheOpenOnesMore) {
  EXPECT_EQ(next_rung({open(7, 1), decided(4)}, enough), 1U);
  EXPECT_EQ(next_rung({open(7, 1), decided(5)}, enough), 0U);
  EXPECT_EQ(next_rung({decided(5), decided(5)}, enough), std::nullopt);
  const RungState alone{.reported = 4, .seconds = 1};
  const RungState alone_and_done{.reported = 5, .seconds = 1};
  EXPECT_EQ(next_rung({alone}, enough), 0U);
  EXPECT_EQ(next_rung({alone_and_done}, enough), std::nullopt);
}

TEST(NextRung, ComesLastWhereMoreLaunchesWouldHardlyHelp) {
  RungState unlikely = open(8, 2);
  unlikely.unlikely = true;
  EXPECT_EQ(next_rung({unlikely, open(15, 3)}, enough), 1U);
  EXPECT_EQ(next_rung({unlikely, decided(8)}, enough), 0U);
  RungState slow = open(9, 2);
  slow.seconds = 10;
  EXPECT_EQ(next_rung({unlikely, slow}, 9), 0U);
}

TEST(NextRung, EndsAfterTheLastLook) {
  EXPECT_EQ(next_rung({open(16, kOverviewLooks.size() - 1)}, enough), 0U);
  EXPECT_EQ(next_rung({open(24, kOverviewLooks.size())}, enough), std::nullopt);
}

TEST(NextRung, FitsIntoTheTimeLeft) {
  RungState slow = open(5, 1);
  slow.seconds = 10;
  EXPECT_EQ(next_rung({slow, open(7, 1)}, 9), 1U);
  EXPECT_EQ(next_rung({slow, open(7, 1)}, 0.5), std::nullopt);
  RungState spent = open(7, 1);
  spent.seconds_left = 0;
  EXPECT_EQ(next_rung({spent}, enough), std::nullopt);
  spent.reported = 4;  // the least it gets all the same
  EXPECT_EQ(next_rung({spent}, enough), 0U);
}

TEST(NextRung, GivesAFixedNumberToAll) {
  EXPECT_EQ(next_rung({open(20), decided(19)}, enough, 20), 1U);
  EXPECT_EQ(next_rung({open(20), decided(20)}, enough, 20), std::nullopt);
  EXPECT_EQ(next_rung({open(1)}, enough, 1), std::nullopt);
}

TEST(IsLook, OnlyAtTheirNumbersAndOnceEach) {
  EXPECT_FALSE(is_look(open(4)));
  EXPECT_TRUE(is_look(open(5)));
  for (const std::size_t between : {5U, 6U, 7U}) EXPECT_FALSE(is_look(open(between, 1))) << between;
  EXPECT_TRUE(is_look(open(8, 1)));
  EXPECT_TRUE(is_look(open(24, 4)));
  EXPECT_FALSE(is_look(open(30, 5)));
  EXPECT_FALSE(is_look({.reported = 5}));  // nothing to be judged
}

}}  // namespace rung_order_test

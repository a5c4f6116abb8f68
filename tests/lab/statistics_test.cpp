// SPDX-License-Identifier: MIT
// The lab's statistics on samples whose results are known.
#include "harness/statistics.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "harness/nearest_name.hpp"

namespace {

using namespace handoff::lab;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7, 7, 7, 7}), 7);
  EXPECT_EQ(median({-1, 1e300, 2}), 2);  // one wild value does not move it
}

TEST(Median, RefusesWhatHasNone) {
  EXPECT_THROW(median({}), std::invalid_argument);
  EXPECT_THROW(median({1, not_a_number}), std::invalid_argument);
  EXPECT_THROW(median({infinite}), std::invalid_argument);
}

TEST(Typical, CountsLaunchesAndNotBursts) {
  // The first launch has most of the bursts and still one vote of three.
  EXPECT_EQ(typical({{1, 1, 1, 1, 1, 1, 1}, {5}, {6}}), 5);
  EXPECT_THROW(typical({}), std::invalid_argument);
  EXPECT_THROW(typical({{1}, {}}), std::invalid_argument);
}

TEST(Resample, OfConstantsIsConstant) {
  for (const double draw : resample({{4, 4}, {4, 4}}, 1)) EXPECT_EQ(draw, 4);
}

TEST(Resample, IsTheSameForTheSameSeed) {
  const Launches launches{{1, 2, 3}, {2, 4, 8}, {3, 9, 27}};
  EXPECT_EQ(resample(launches, 5), resample(launches, 5));
  EXPECT_NE(resample(launches, 5), resample(launches, 6));
}

TEST(Resample, DrawsLaunchesAsAWhole) {
  // Two launches, each constant: a resample of both launches is 0, 5 or 10, the mean of its two
  // medians. Drawn burst by burst from a common pool other values would appear.
  int counts[3] = {};
  for (const double draw : resample({{0, 0, 0}, {10, 10, 10}}, 3, 4000)) {
    ASSERT_TRUE(draw == 0 || draw == 5 || draw == 10) << draw;
    ++counts[static_cast<int>(draw / 5)];
  }
  // 1/4, 1/2, 1/4 of 4000 within 6 standard deviations (27 and 32).
  EXPECT_NEAR(counts[0], 1000, 165);
  EXPECT_NEAR(counts[1], 2000, 190);
  EXPECT_NEAR(counts[2], 1000, 165);
}

TEST(Interval, IsTheMiddleOfTheDraws) {
  std::vector<double> draws;
  for (int i = 1000; i >= 0; --i) draws.push_back(i);
  const Interval ninety = interval(draws, 0.9);
  EXPECT_EQ(ninety.low, 50);
  EXPECT_EQ(ninety.high, 950);
  const Interval all = interval(draws, 1);
  EXPECT_EQ(all.low, 0);
  EXPECT_EQ(all.high, 1000);
  EXPECT_THROW(interval({}), std::invalid_argument);
}

TEST(Interval, OfTwoModesSpansBoth) {
  const Interval bounds = interval(resample({{1}, {1}, {9}, {1}, {9}}, 11));
  EXPECT_EQ(bounds.low, 1);
  EXPECT_EQ(bounds.high, 9);
}

TEST(RatioOf, PairsBurstsAndCancelsCommonNoise) {
  // The machine ran at half speed in the second burst, for both.
  const Launches ratios = ratio({{10, 5}, {12, 6}}, {{20, 10}, {24, 12}});
  EXPECT_EQ(ratios, (Launches{{0.5, 0.5}, {0.5, 0.5}}));
}

TEST(RatioOf, LeavesOutWhatHasNoPartner) {
  EXPECT_EQ(ratio({{1, 2, 3}, {4}}, {{1, 1}}), (Launches{{1, 2}}));
}

TEST(RatioOf, RefusesDivisionByZero) {
  EXPECT_THROW(ratio({{1}}, {{0}}), std::invalid_argument);
}

TEST(GeometricMean, IsTakenDrawByDraw) {
  const auto means = geometric_mean({{2, 1}, {8, 1}, {4, 27}});
  ASSERT_EQ(means.size(), 2U);
  EXPECT_NEAR(means[0], 4, 1e-12);
  EXPECT_NEAR(means[1], 3, 1e-12);
  EXPECT_THROW(geometric_mean({}), std::invalid_argument);
  EXPECT_THROW(geometric_mean({{1, 2}, {1}}), std::invalid_argument);
  EXPECT_THROW(geometric_mean({{-1}}), std::invalid_argument);
}

TEST(NearestName, SuggestsWhatIsNearAndElseNamesAll) {
  const std::vector<std::string> names{"ikj", "naive", "tile"};
  EXPECT_EQ(nearest_name("tiel", names), "did you mean 'tile'?");
  EXPECT_EQ(nearest_name("nave", names), "did you mean 'naive'?");
  EXPECT_EQ(nearest_name("blocked", names), "known: ikj, naive, tile");
  EXPECT_EQ(nearest_name("", names), "known: ikj, naive, tile");
}

}  // namespace

// SPDX-License-Identifier: MIT
// The verdict on two sets of launches, on samples whose answer is known.
#include "harness/verdict.hpp"
#include "support/test.hpp"

namespace verdict_test { namespace {

using namespace handoff::lab;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr Judging disturbed{.disturbed = true, .disturbed_margin = 0.5};

Launches constant(double value, std::size_t launches = 5) {
  return Launches(launches, {value, value, value});
}

Change change(double now, double before, const Judging& judging = {}) {
  return judge_change(constant(now), constant(before), judging).change;
}

TEST(JudgeChange, LessIsBetterUnlessMoreIs) {
  EXPECT_EQ(change(105, 100), Change::worse);
  EXPECT_EQ(change(95, 100), Change::improved);
  EXPECT_EQ(change(105, 100, {.higher_is_better = true}), Change::improved);
  EXPECT_EQ(change(95, 100, {.higher_is_better = true}), Change::worse);
}

TEST(JudgeChange, TwoPercentIsNoChange) {
  EXPECT_EQ(change(100, 100), Change::unchanged);
  EXPECT_EQ(change(101.9, 100), Change::unchanged);
  EXPECT_EQ(change(102.1, 100), Change::worse);
  EXPECT_EQ(change(100, 102.1), Change::improved);
}

TEST(JudgeChange, TheFloorWidensTheMarginAndNeverNarrowsIt) {
  EXPECT_EQ(change(105, 100, {.floor = 0.06}), Change::unchanged);
  EXPECT_EQ(change(107, 100, {.floor = 0.06}), Change::worse);
  EXPECT_EQ(change(101.9, 100, {.floor = 0.001}), Change::unchanged);
  EXPECT_EQ(judge_change(constant(1), constant(1), {.floor = 0.06}).margin, 0.06);
  EXPECT_EQ(judge_change(constant(1), constant(1), {.floor = 0.001}).margin, kLeastMargin);
}

TEST(JudgeChange, SaysTheRatioAndItsInterval) {
  const JudgedChange judged = judge_change(constant(150), constant(100), {});
  EXPECT_DOUBLE_EQ(judged.ratio, 1.5);
  EXPECT_DOUBLE_EQ(judged.bounds.low, 1.5);
  EXPECT_DOUBLE_EQ(judged.bounds.high, 1.5);
}

TEST(JudgeChange, AStricterLevelIsAWiderInterval) {
  const Launches now{{1.05}, {1.06}, {1.04}, {1.055}, {1.045}};
  const JudgedChange usual = judge_change(now, constant(1), {});
  const JudgedChange strict = judge_change(now, constant(1), {.level = 0.9995});
  EXPECT_EQ(usual.change, Change::worse);
  EXPECT_EQ(strict.change, Change::too_noisy);
  EXPECT_EQ(strict.ratio, usual.ratio);
  EXPECT_LT(strict.bounds.low, usual.bounds.low);
  EXPECT_GT(strict.bounds.high, usual.bounds.high);
}

TEST(JudgeChange, AnIntervalAcrossTheMarginIsTooNoisy) {
  const Launches now{{1.0}, {1.1}, {0.9}, {1.2}, {1.0}};
  EXPECT_EQ(judge_change(now, constant(1), {}).change, Change::too_noisy);
}

TEST(JudgeChange, FewLaunchesAndDisturbedOnesAreTooNoisy) {
  EXPECT_EQ(judge_change(constant(2, 4), constant(1, 4), {}).change, Change::too_noisy);
  EXPECT_EQ(judge_change(constant(2, 5), constant(1, 4), {}).change, Change::too_noisy);
  EXPECT_EQ(judge_change(constant(2, 5), constant(1, 5), {}).change, Change::worse);
  EXPECT_EQ(change(2, 1, {.disturbed = true}), Change::too_noisy);
}

TEST(JudgeChange, DisturbedOnesMustClearTheWideMarginAndNeverMeanUnchanged) {
  EXPECT_EQ(change(1.51, 1, disturbed), Change::worse);
  EXPECT_EQ(change(1, 1.51, disturbed), Change::improved);
  EXPECT_EQ(change(1.49, 1, disturbed), Change::too_noisy);
  EXPECT_EQ(change(1, 1, disturbed), Change::too_noisy);
  EXPECT_EQ(judge_change(constant(2, 4), constant(1, 4), disturbed).change, Change::too_noisy);
  EXPECT_EQ(judge_change(constant(1), constant(1), disturbed).margin, 0.5);
  // The floor still counts where it is wider, and a quiet machine has nothing to do with all this.
  EXPECT_EQ(change(1.7, 1, {.floor = 0.8, .disturbed = true, .disturbed_margin = 0.5}),
            Change::too_noisy);
  EXPECT_EQ(change(1.1, 1, {.disturbed_margin = 0.5}), Change::worse);
}

TEST(JudgeChange, DisturbedLaunchesVoteByTheirBestBursts) {
  // Two of three bursts were hit, of one side only and by far more than it takes.
  const Launches hit{{2, 90, 31}, {55, 2.02, 20}, {80, 47, 1.98}, {2.01, 33, 66}, {28, 2, 41}};
  EXPECT_EQ(judge_change(hit, constant(1), {}).change, Change::worse);  // by 30 times
  const JudgedChange judged = judge_change(hit, constant(1), disturbed);
  EXPECT_EQ(judged.change, Change::worse);
  EXPECT_NEAR(judged.ratio, 2, 0.01);
  EXPECT_LT(judged.bounds.high, 2.1);
  EXPECT_EQ(judge_change(constant(1.9), hit, disturbed).change, Change::too_noisy);
  // If the usual bursts of the other side are as slow, the best ones alone say nothing.
  const Launches lucky{{1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {1, 2, 2}, {2, 1, 2}};
  EXPECT_EQ(judge_change(constant(2), lucky, disturbed).change, Change::too_noisy);
  EXPECT_EQ(judge_change(lucky, constant(2), disturbed).change, Change::too_noisy);
  // Where more is better, the best is the most.
  const Launches rates{{5, 100, 9}, {99, 8, 4}, {7, 2, 101}, {100, 3, 3}, {6, 100, 1}};
  EXPECT_NEAR(judge_change(rates, constant(50),
                           {.higher_is_better = true, .disturbed = true, .disturbed_margin = 0.5})
                  .ratio,
              2, 0.01);
}

TEST(JudgeChange, NoiseThatMetBothFallsOut) {
  // Half speed in the second launch and in single bursts of others, always for both.
  const Launches before{{10, 10}, {20, 20}, {10, 20}, {10, 10}, {40, 10}};
  Launches now = before;
  for (auto& bursts : now) {
    for (double& value : bursts) value *= 1.05;
  }
  EXPECT_EQ(judge_change(now, before, {}).change, Change::worse);
  EXPECT_EQ(judge_change(before, before, {}).change, Change::unchanged);
}

TEST(JudgeChange, RefusesWhatHasNoRatio) {
  const Launches good = constant(1);
  for (const double bad : {0.0, -1.0, not_a_number, infinite, -infinite}) {
    EXPECT_THROW(static_cast<void>(judge_change(constant(bad), good, {})), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(judge_change(good, constant(bad), {})), std::invalid_argument);
  }
  EXPECT_THROW(static_cast<void>(judge_change({}, good, {})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(judge_change({{1}, {}}, good, {})), std::invalid_argument);
}

TEST(JudgeChange, HasAWordForEach) {
  EXPECT_EQ(name_of(Change::improved), "improved");
  EXPECT_EQ(name_of(Change::unchanged), "unchanged");
  EXPECT_EQ(name_of(Change::worse), "worse");
  EXPECT_EQ(name_of(Change::too_noisy), "too noisy");
}

}}  // namespace verdict_test

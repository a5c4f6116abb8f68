// SPDX-License-Identifier: MIT
// The lab's statistics on samples whose results are known.
#include <numbers>

#include "harness/statistics.hpp"
#include "harness/user_error.hpp"
#include "support/test.hpp"

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

TEST(RatioOf, RefusesDivisionByZero) { EXPECT_THROW(ratio({{1}}, {{0}}), std::invalid_argument); }

TEST(RatioOfBest, IsOneForALaunchAndWithoutWhatWasHit) {
  EXPECT_EQ(ratio_of_best({{10, 300, 12}, {500, 11}}, {{40, 20, 25}, {22, 90}}, false),
            (Launches{{0.5}, {0.5}}));
  EXPECT_EQ(ratio_of_best({{10, 3, 8}}, {{2, 5, 1}}, true), (Launches{{2}}));
}

TEST(RatioOfBest, IsOfAsManyBursts) {
  // A contender with more of them has more chances of a good one.
  EXPECT_EQ(ratio_of_best({{8, 8, 2}, {4}}, {{4, 4}}, false), (Launches{{2}}));
}

TEST(RatioOfBest, RefusesWhatHasNoRatio) {
  EXPECT_THROW(ratio_of_best({}, {}, false), std::invalid_argument);
  EXPECT_THROW(ratio_of_best({{1}, {}}, {{1}, {1}}, false), std::invalid_argument);
  EXPECT_THROW(ratio_of_best({{1}}, {{0}}, false), std::invalid_argument);
}

// The values of SciPy 1.10.1:
//   stats.t.ppf(0.995, n), stats.t.ppf(0.975, n)
//   stats.binomtest(below, below + above, 0.5).pvalue
//   heavy = [1.02, 0.98, 1, 1.05, 9.5, 0.97, 1.01, 3.2, 0.99, 1.03]; stats.gmean(heavy)
//   even = log([104.2, 101.7, 99.8, 103.1, 102.6, 100.9, 105, 101.2]) - log(100)
//   exp(even.mean()), exp(stats.t.interval(0.99, 7, even.mean(), stats.sem(even)))
//   exp(stats.t.interval(0.999, 7, even.mean(), stats.sem(even)))
const std::vector<double> heavy{1.02, 0.98, 1, 1.05, 9.5, 0.97, 1.01, 3.2, 0.99, 1.03};
const std::vector<double> even{104.2, 101.7, 99.8, 103.1, 102.6, 100.9, 105, 101.2};

// Each value a launch of one burst.
Launches launches_of(const std::vector<double>& values, double divisor = 1) {
  Launches launches;
  for (const double value : values) launches.push_back({value / divisor});
  return launches;
}

TEST(SciPy, StudentsTIsTheSame) {
  const std::vector<std::tuple<std::size_t, double, double>> known{
      {1, 63.65674116287399, 12.706204736432095},   {2, 9.92484320091807, 4.302652729911275},
      {3, 5.84090929975643, 3.182446305284263},     {4, 4.604094871415897, 2.7764451051977987},
      {7, 3.4994832973505026, 2.3646242510102993},  {10, 3.169272667175838, 2.2281388519649385},
      {31, 2.7440419192941268, 2.0395134463964077}, {100, 2.6258905205863337, 1.9839715184496334}};
  for (const auto& [degrees, at_99, at_95] : known) {
    EXPECT_NEAR(student_t(degrees), at_99, 1e-8 * at_99) << degrees;  // SciPy errs by 2e-9
    EXPECT_NEAR(student_t(degrees, 0.95), at_95, 1e-8 * at_95) << degrees;
  }
}

TEST(StudentT, HasClosedFormsForOneAndTwoDegrees) {
  for (const double level : {0.5, 0.9, 0.95, 0.99, 0.999}) {
    const double one = std::tan(std::numbers::pi / 2 * level);
    const double two = level * std::sqrt(2 / (1 - level * level));
    EXPECT_NEAR(student_t(1, level), one, 1e-12 * one);
    EXPECT_NEAR(student_t(2, level), two, 1e-12 * two);
  }
}

TEST(Normal, IsStudentsTOfManyDegrees) {
  EXPECT_NEAR(normal(0.99), 2.5758293035489004, 1e-14);
  EXPECT_NEAR(normal(0.95), 1.9599639845400545, 1e-14);
  EXPECT_NEAR(normal(0.9999), 3.8905918864131208, 1e-12);
  for (const double level : {0.5, 0.99, 0.9999}) {
    EXPECT_NEAR(normal(level), student_t(1'000'000, level), 1e-4) << level;
  }
}

TEST(StudentT, NeedsADegree) { EXPECT_THROW(student_t(0), std::invalid_argument); }

TEST(SciPy, TheSignTestIsTheSame) {
  EXPECT_EQ(sign_test(0, 0), 1);
  EXPECT_EQ(sign_test(0, 5), 0.0625);
  EXPECT_EQ(sign_test(5, 0), 0.0625);
  EXPECT_EQ(sign_test(0, 8), 0.0078125);
  EXPECT_NEAR(sign_test(3, 9), 0.14599609375, 1e-15);
  EXPECT_EQ(sign_test(8, 8), 1);
  EXPECT_NEAR(sign_test(4, 20), 0.001543879508972168, 1e-17);
}

TEST(SciPy, MediansAndMeansAreTheSame) {
  EXPECT_NEAR(median(heavy), 1.015, 1e-15);
  EXPECT_NEAR(median(even), 102.15, 1e-13);
  std::vector<std::vector<double>> figures;
  for (const double value : heavy) figures.push_back({value});
  EXPECT_NEAR(geometric_mean(figures).front(), 1.41366161480686, 1e-14);
}

TEST(SciPy, TheIntervalOfOneClumpIsStudents) {
  // The draws are random: within 4 % of the width, which is far more than 20000 of them leave open.
  const Agreement agreed = agreement(launches_of(even, 100), 7, 0.99, 20'000);
  const Interval bounds = interval(agreed.draws);
  EXPECT_NEAR(agreed.value, 1.0229944489818459, 1e-15);
  const double width = 1.0448316752741638 - 1.0016136258245272;
  EXPECT_NEAR(bounds.low, 1.0016136258245272, 0.04 * width);
  EXPECT_NEAR(bounds.high, 1.0448316752741638, 0.04 * width);
}

TEST(SciPy, TheIntervalOfAStricterLevelIsStudentsToo) {
  // Resamples of so few values reach less far out than Student's t: within 6 % of the width.
  const Agreement agreed = agreement(launches_of(even, 100), 7, 0.999);
  const Interval bounds = interval(agreed.draws, 0.999);
  const double width = 1.0569361191221511 - 0.9901427567040344;
  EXPECT_NEAR(bounds.low, 0.9901427567040344, 0.06 * width);
  EXPECT_NEAR(bounds.high, 1.0569361191221511, 0.06 * width);
}

TEST(AgreementOf, AStricterLevelTakesMoreDraws) {
  const Launches five = launches_of({4, 4, 4, 4, 4});
  EXPECT_EQ(agreement(five, 1, 0.9).draws.size(), 2000U);
  EXPECT_EQ(agreement(five, 1).draws.size(), 2000U);
  EXPECT_EQ(agreement(five, 1, 0.998).draws.size(), 10'000U);
  EXPECT_EQ(agreement({{4}}, 1, 1 - 1e-15).draws.size(), 1'000'000U);
  for (const double level : {0.0, 1.0, 10.0, not_a_number}) {
    EXPECT_THROW(agreement(five, 1, level), std::invalid_argument) << level;
  }
}

TEST(AgreementOf, TwoLaunchesFarApartKeepFiniteDraws) {
  const Agreement agreed = agreement(launches_of({1e-6, 1e6}), 1, 0.9999);
  const Interval bounds = interval(agreed.draws, 0.9999);
  EXPECT_LT(bounds.low, 1e-300);
  EXPECT_GT(bounds.high, 1e300);
}

TEST(AgreementOf, AStricterLevelRulesOutLess) {
  // That all 12 others lie below the two has a probability of 0.0005 if these are the middle.
  std::vector<double> ratios(12, 1.0);
  ratios.insert(ratios.end(), 2, 2.0);
  EXPECT_LT(interval(agreement(launches_of(ratios), 1).draws).high, 1.01);
  EXPECT_GT(interval(agreement(launches_of(ratios), 1, 0.9999).draws, 0.9999).high, 1.2);
}

TEST(AgreementOf, ConstantsIsThatConstant) {
  const Agreement agreed = agreement(launches_of({4, 4, 4, 4, 4}), 1);
  EXPECT_NEAR(agreed.value, 4, 1e-15);
  for (const double draw : agreed.draws) EXPECT_NEAR(draw, 4, 1e-14);
}

TEST(AgreementOf, OneLaunchIsThatLaunch) {
  const Agreement agreed = agreement({{3, 2, 4}}, 1, 0.99, 10);
  EXPECT_NEAR(agreed.value, 3, 1e-15);
  for (const double draw : agreed.draws) EXPECT_EQ(draw, agreed.value);
}

TEST(AgreementOf, AHeavyTailIsItsBody) {
  // 3.2 and 9.5 are launches that something hit; the others lie together.
  std::vector<double> values = heavy;
  values.insert(values.end(), {0.975, 0.985, 1.005, 1.015});
  const Agreement agreed = agreement(launches_of(values), 1);
  double sum = 0;
  for (const double value : values) sum += value < 2 ? std::log(value) : 0;
  EXPECT_NEAR(agreed.value, std::exp(sum / 12), 1e-15);
  EXPECT_LT(interval(agreed.draws).high, 1.05);
}

TEST(AgreementOf, ThreeStatesIsTheMiddleOne) {
  // Both fast or both slow: 1.05. One fast, one slow: twice or half of that.
  std::vector<double> ratios;
  for (int i = 0; i < 6; ++i) ratios.push_back(1.05 + 0.0001 * i);
  for (int i = 0; i < 7; ++i) ratios.push_back(2.10 + 0.0001 * i);  // more than of the middle
  for (int i = 0; i < 3; ++i) ratios.push_back(0.525 + 0.0001 * i);
  const Interval bounds = interval(agreement(launches_of(ratios), 1).draws);
  EXPECT_GT(bounds.low, 1.0498);
  EXPECT_LT(bounds.high, 1.0508);
}

TEST(AgreementOf, TwoStatesOfManyIsTheLargerOne) {
  std::vector<double> ratios(12, 1.0);
  ratios.insert(ratios.end(), 4, 2.0);
  const Interval bounds = interval(agreement(launches_of(ratios), 1).draws);
  EXPECT_NEAR(bounds.low, 1, 1e-14);
  EXPECT_NEAR(bounds.high, 1, 1e-14);
}

TEST(AgreementOf, TwoStatesOfFewIsBoth) {
  const Agreement agreed = agreement(launches_of({1, 1, 1, 1, 1, 2, 2, 2}), 1);
  EXPECT_EQ(agreed.value, 1);  // the median
  const Interval bounds = interval(agreed.draws);
  EXPECT_NEAR(bounds.low, 1, 1e-14);
  EXPECT_NEAR(bounds.high, 2, 1e-14);
}

TEST(AgreementOf, TooFewForASignTestIsOneClump) {
  // Though two lie far away: with seven, all on one side happens in 2 of 128 throws.
  const Agreement agreed = agreement(launches_of({1, 1, 1, 1, 1, 4, 4}), 1);
  EXPECT_NEAR(agreed.value, std::exp2(4.0 / 7), 1e-14);
  EXPECT_LT(interval(agreed.draws).low, 1);
}

TEST(AgreementOf, TwoStatesOfAsManyIsNeither) {
  // Each is ruled out by the other: nothing is agreed on, and the interval spans all.
  std::vector<double> ratios(10, 1.0);
  ratios.insert(ratios.end(), 10, 2.0);
  const Interval bounds = interval(agreement(launches_of(ratios), 1).draws);
  EXPECT_LT(bounds.low, 1.2);
  EXPECT_GT(bounds.high, 1.7);
}

TEST(AgreementOf, ScatteredValuesAreOneClump) {
  // Cut at its widest gap, what lies above would rule out the one below. But it is wider than that.
  std::vector<double> ratios{0.5};
  for (int i = 0; i < 14; ++i) ratios.push_back(0.7 + 0.03 * i);
  double sum = 0;
  for (const double value : ratios) sum += std::log(value);
  EXPECT_NEAR(agreement(launches_of(ratios), 1).value, std::exp(sum / 15), 1e-14);
  // The same gap beside values that lie together is one.
  for (double& value : ratios) value = value < 0.7 ? value : 0.7 + (value - 0.7) / 10;
  EXPECT_GT(agreement(launches_of(ratios), 1).value, 0.7);
}

TEST(AgreementOf, ALoneMiddleIsNoAgreement) {
  std::vector<double> ratios(9, 0.5);
  ratios.push_back(1);
  ratios.insert(ratios.end(), 9, 2.0);
  const Interval bounds = interval(agreement(launches_of(ratios), 1).draws);
  EXPECT_LT(bounds.low, 0.8);
  EXPECT_GT(bounds.high, 1.2);
}

TEST(AgreementOf, RefusesWhatHasNoLogarithm) {
  EXPECT_THROW(agreement({}, 1), std::invalid_argument);
  EXPECT_THROW(agreement({{1}, {}}, 1), std::invalid_argument);
  for (const double bad : {0.0, -1.0, not_a_number, infinite}) {
    EXPECT_THROW(agreement({{1}, {bad}}, 1), std::invalid_argument) << bad;
  }
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

// SPDX-License-Identifier: MIT
// Medians and their intervals. The unit of repetition is the launch: bursts of one process resemble
// each other more than those of two, so a resample draws launches first and then bursts in them.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// One value a burst, burst after burst, launch after launch.
using Launches = std::vector<std::vector<double>>;

struct Interval {
  double low;
  double high;
};

// All of these refuse empty input and values that are not finite (std::invalid_argument).

double median(std::vector<double> values);

// The median over the launches of the median of each launch's bursts.
double typical(const Launches& launches);

// What `typical` of another set of launches could have been: `count` resamples.
std::vector<double> resample(const Launches& launches, std::uint64_t seed, int count = 2000);

// The middle `level` of the draws.
Interval interval(std::vector<double> draws, double level = 0.99);

// Burst by burst, one against the other. Where both ran in the same rounds the noise of the machine
// that met both falls out; what one has more than the other is left out.
Launches ratio(const Launches& above, const Launches& below);

// One ratio a launch: the best burst of one against the best of the other, of as many. Where
// something hits single bursts of one side only, it is in neither of them.
Launches ratio_of_best(const Launches& above, const Launches& below, bool higher_is_better);

// What pairs of launches, measured side by side, agree on: the middle of their ratios, each launch
// one vote, on a machine where a launch may be in one of several states for as long as it lives. A
// pair whose two sides were in different states says nothing about the ratio, but it errs to either
// side alike. So the ratios are split into clumps that are narrower than the gaps between them, and
// the clumps that may be the middle one are those that a sign test on what lies below and above
// does not rule out. Too few values for the test (at 99 % fewer than 8) are one clump. So are those
// of which less than a quarter may be in the middle.
struct Agreement {
  double value = 0;  // the mean of the middle clump; several may be it: the median of all
  std::vector<double> draws;  // what it could have been: for `interval` and `geometric_mean`
};

// For the interval of a `level` above 0 and below 1, which the sign test has too. The draws
// resample the launches of a clump, and are stretched for few launches by as much as Student's t is
// wider than the normal distribution at that level. `count` 0: as many draws as the level needs,
// 2000 at 99 %. The values must be above 0.
Agreement agreement(const Launches& ratios, std::uint64_t seed, double level = 0.99, int count = 0);

// How unlikely a fair coin is to fall as lopsidedly: two-sided, 1 where nothing was thrown.
double sign_test(std::size_t below, std::size_t above);

// Within how many standard deviations of its middle a normal distribution has `level` of itself.
double normal(double level);

// Within how many standard errors a mean lies with probability `level` if the standard deviation
// was estimated, with that many degrees of freedom (at least 1).
double student_t(std::size_t degrees, double level = 0.99);

// Of figures that each have as many draws: the geometric mean, draw by draw.
std::vector<double> geometric_mean(const std::vector<std::vector<double>>& figures);

}  // namespace handoff::lab

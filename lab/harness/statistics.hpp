// SPDX-License-Identifier: MIT
// Medians and their intervals. The unit of repetition is the launch: bursts of one process resemble
// each other more than those of two, so a resample draws launches first and then bursts in them.
#pragma once

#include <cstdint>
#include <vector>

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

// Of figures that each have as many draws: the geometric mean, draw by draw.
std::vector<double> geometric_mean(const std::vector<std::vector<double>>& figures);

}  // namespace handoff::lab

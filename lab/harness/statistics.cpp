// SPDX-License-Identifier: MIT
// Order statistics, the two-stage bootstrap, and what launches in several states agree on.
#include "harness/statistics.hpp"

#include <numbers>

namespace handoff::lab {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_finite(const std::vector<double>& values) {
  require(!values.empty(), "a statistic of no values was asked for");
  require(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }),
          "a statistic of values that are not finite was asked for");
}

// One of the values, the same for the same seed with every standard library.
const auto& any_of(const auto& values, std::mt19937_64& random) {
  return values[(random() >> 32) * values.size() >> 32];
}

// The probability that Student's t lies within tan(angle) * sqrt(degrees) of 0: the finite series
// for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_within(std::size_t degrees, double angle) {
  const double square = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(angle) : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::size_t i = odd ? 3 : 2; i < degrees; i += 2) {
    const auto place = static_cast<double>(i);
    term *= square * (place - 1) / place;
    sum += term;
  }
  sum *= std::sin(angle);
  return odd ? 2 / std::numbers::pi * (angle + sum) : sum;
}

using Clump = std::vector<double>;

// Whether every clump is narrower than every gap between two: else it is scattered values that were
// cut somewhere.
bool apart(const std::vector<Clump>& clumps) {
  double widest = 0;
  double narrowest_gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < clumps.size(); ++i) {
    widest = std::max(widest, clumps[i].back() - clumps[i].front());
    if (i > 0) narrowest_gap = std::min(narrowest_gap, clumps[i].front() - clumps[i - 1].back());
  }
  return widest < narrowest_gap;
}

// Splits where nothing lies over a stretch far longer than the usual one between neighbours.
std::vector<Clump> clumps_of(std::vector<double> values) {
  constexpr double least_gap = 0.01;
  constexpr double times_usual = 8;
  std::ranges::sort(values);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < values.size(); ++i) gaps.push_back(values[i] - values[i - 1]);
  const double gap = gaps.empty() ? 0 : std::max(least_gap, times_usual * median(gaps));
  std::vector<Clump> clumps{{values.front()}};
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (gaps[i - 1] > gap) clumps.emplace_back();
    clumps.back().push_back(values[i]);
  }
  return apart(clumps) ? clumps : std::vector<Clump>{values};
}

// Those that may be the middle one. Where the sign test cannot rule out anything, or where next to
// nothing is left, nothing is agreed on: all values are one clump then.
std::vector<Clump> middle_of(const std::vector<double>& values, double level) {
  const double ruled_out = 1 - level;
  if (sign_test(0, values.size()) >= ruled_out) return {values};
  std::vector<Clump> middle;
  std::size_t below = 0;
  std::size_t members = 0;
  for (Clump& clump : clumps_of(values)) {
    const std::size_t above = values.size() - below - clump.size();
    below += clump.size();
    if (sign_test(below - clump.size(), above) < ruled_out) continue;
    members += clump.size();
    middle.push_back(std::move(clump));
  }
  return 4 * members >= values.size() ? middle : std::vector<Clump>{values};
}

double mean_of(const Clump& clump) {
  return std::accumulate(clump.begin(), clump.end(), 0.0) / static_cast<double>(clump.size());
}

// By how much resampled means must be stretched to lie as far out as the true mean may. Resampling
// underestimates the variance of n values by (n-1)/n.
double stretch(std::size_t values, double level) {
  if (values < 2) return 0;
  const auto n = static_cast<double>(values);
  return student_t(values - 1, level) / normal(level) * std::sqrt(n / (n - 1));
}

// So many that ten lie beyond each end of the interval: where it ends is no matter of luck then.
int draws_at(double level) {
  constexpr int least = 2000;
  constexpr int most = 1'000'000;
  const double wanted = std::round(20 / (1 - level));
  return wanted < most ? std::max(least, static_cast<int>(wanted)) : most;
}

// What the mean of a clump could have been.
class ResampledMean {
 public:
  ResampledMean(const Clump& clump, double level)
      : clump_(clump), mean_(mean_of(clump)), stretch_(stretch(clump.size(), level)) {}

  double operator()(std::mt19937_64& random) const {
    double sum = 0;
    for (std::size_t i = 0; i < clump_.size(); ++i) sum += any_of(clump_, random);
    return mean_ + stretch_ * (sum / static_cast<double>(clump_.size()) - mean_);
  }

 private:
  const Clump& clump_;
  double mean_;
  double stretch_;
};

}  // namespace

double median(std::vector<double> values) {
  require_finite(values);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double typical(const Launches& launches) {
  std::vector<double> medians;
  medians.reserve(launches.size());
  for (const auto& bursts : launches) medians.push_back(median(bursts));
  return median(std::move(medians));
}

std::vector<double> resample(const Launches& launches, std::uint64_t seed, int count) {
  static_cast<void>(typical(launches));  // refuses what cannot be resampled
  std::mt19937_64 random(seed);
  std::vector<double> draws(static_cast<std::size_t>(count));
  for (double& draw : draws) {
    Launches drawn(launches.size());
    for (auto& bursts : drawn) {
      const auto& launch = any_of(launches, random);
      bursts.resize(launch.size());
      for (double& value : bursts) value = any_of(launch, random);
    }
    draw = typical(drawn);
  }
  return draws;
}

Interval interval(std::vector<double> draws, double level) {
  require_finite(draws);
  const double outside = (1 - level) / 2 * static_cast<double>(draws.size() - 1);
  const auto skipped = static_cast<std::ptrdiff_t>(std::llround(outside));
  const auto low = draws.begin() + skipped;
  const auto high = draws.end() - 1 - skipped;
  std::nth_element(draws.begin(), high, draws.end());  // of the order no more than the two places
  std::nth_element(draws.begin(), low, high);
  return {*low, *high};
}

Launches ratio(const Launches& above, const Launches& below) {
  Launches ratios(std::min(above.size(), below.size()));
  for (std::size_t l = 0; l < ratios.size(); ++l) {
    const std::size_t bursts = std::min(above[l].size(), below[l].size());
    for (std::size_t b = 0; b < bursts; ++b) ratios[l].push_back(above[l][b] / below[l][b]);
  }
  static_cast<void>(typical(ratios));  // refuses empty launches and division by zero
  return ratios;
}

Launches ratio_of_best(const Launches& above, const Launches& below, bool higher_is_better) {
  Launches ratios(std::min(above.size(), below.size()));
  for (std::size_t l = 0; l < ratios.size(); ++l) {
    const auto bursts = static_cast<std::ptrdiff_t>(std::min(above[l].size(), below[l].size()));
    require(bursts > 0, "the best of no bursts was asked for");
    const auto best = [&](const std::vector<double>& values) {
      const auto end = values.begin() + bursts;
      return higher_is_better ? *std::max_element(values.begin(), end)
                              : *std::min_element(values.begin(), end);
    };
    ratios[l].push_back(best(above[l]) / best(below[l]));
  }
  static_cast<void>(typical(ratios));  // refuses no launches and division by zero
  return ratios;
}

double sign_test(std::size_t below, std::size_t above) {
  const auto thrown = static_cast<double>(below + above);
  double ways = std::exp2(-thrown);  // to fall with exactly i of them on the rarer side
  double tail = 0;
  for (std::size_t i = 0; i <= std::min(below, above); ++i) {
    tail += ways;
    ways *= (thrown - static_cast<double>(i)) / (static_cast<double>(i) + 1);
  }
  return std::min(1.0, 2 * tail);
}

double normal(double level) {
  double low = 0;
  double high = 40;  // beyond it there is nothing that a double could tell from 0
  for (int halved = 0; halved < 60; ++halved) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return low;
}

double student_t(std::size_t degrees, double level) {
  require(degrees > 0, "Student's t of no degrees of freedom was asked for");
  double low = 0;
  double high = std::numbers::pi / 2;
  for (int halved = 0; halved < 60; ++halved) {
    const double angle = (low + high) / 2;
    (student_within(degrees, angle) < level ? low : high) = angle;
  }
  return std::tan(low) * std::sqrt(static_cast<double>(degrees));
}

Agreement agreement(const Launches& ratios, std::uint64_t seed, double level, int count) {
  require(level > 0 && level < 1, "an agreement at no level above 0 and below 1 was asked for");
  std::vector<double> values;  // logarithms: half as fast lies as far from 1 as twice as fast
  for (const auto& bursts : ratios) values.push_back(std::log(median(bursts)));
  const double of_all = median(values);
  const std::vector<Clump> middle = middle_of(values, level);
  Agreement agreement;
  agreement.value = std::exp(middle.size() == 1 ? mean_of(middle.front()) : of_all);
  std::vector<ResampledMean> means;
  for (const Clump& clump : middle) means.emplace_back(clump, level);
  std::mt19937_64 random(seed);
  agreement.draws.resize(static_cast<std::size_t>(count > 0 ? count : draws_at(level)));
  // Two launches that are far apart, stretched for a strict level, would reach beyond all numbers.
  constexpr double most = 700;
  for (double& draw : agreement.draws) {
    draw = std::exp(std::clamp(any_of(means, random)(random), -most, most));
  }
  return agreement;
}

std::vector<double> geometric_mean(const std::vector<std::vector<double>>& figures) {
  require(!figures.empty(), "a mean of no figures was asked for");
  std::vector<double> means(figures.front().size(), 0.0);
  for (const auto& draws : figures) {
    require(draws.size() == means.size(), "figures with different numbers of draws");
    for (std::size_t i = 0; i < draws.size(); ++i) means[i] += std::log(draws[i]);
  }
  for (double& mean : means) mean = std::exp(mean / static_cast<double>(figures.size()));
  require_finite(means);
  return means;
}

}  // namespace handoff::lab

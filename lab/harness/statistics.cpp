// SPDX-License-Identifier: MIT
// Order statistics and the two-stage bootstrap.
#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace handoff::lab {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_finite(const std::vector<double>& values) {
  require(!values.empty(), "a statistic of no values was asked for");
  require(std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }),
          "a statistic of values that are not finite was asked for");
}

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
  const auto any = [&](const auto& values) -> const auto& {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
  };
  std::vector<double> draws(static_cast<std::size_t>(count));
  for (double& draw : draws) {
    Launches drawn(launches.size());
    for (auto& bursts : drawn) {
      const auto& launch = any(launches);
      bursts.resize(launch.size());
      for (double& value : bursts) value = any(launch);
    }
    draw = typical(drawn);
  }
  return draws;
}

Interval interval(std::vector<double> draws, double level) {
  require_finite(draws);
  std::sort(draws.begin(), draws.end());
  const double outside = (1 - level) / 2 * static_cast<double>(draws.size() - 1);
  const auto skipped = static_cast<std::size_t>(std::llround(outside));
  return {draws[skipped], draws[draws.size() - 1 - skipped]};
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

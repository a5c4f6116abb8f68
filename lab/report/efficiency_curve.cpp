// SPDX-License-Identifier: MIT
#include "report/efficiency_curve.hpp"

namespace handoff::lab {
namespace {

// The distance of a point from the line between its neighbours has its own error and half of each
// of theirs.
constexpr double kVarianceOfDistance = 1.5;

double on_line(const std::pair<double, double>& a, const std::pair<double, double>& b, double x) {
  return a.second + (b.second - a.second) * (x - a.first) / (b.first - a.first);
}

}  // namespace

EfficiencyCurve::EfficiencyCurve(const Points& points) {
  for (const auto& [size, efficiency] : points) {
    if (size > 0 && efficiency > 0) points_.emplace_back(std::log(size), efficiency);
  }
  std::ranges::sort(points_);
  const auto same_size = [](const auto& a, const auto& b) { return a.first == b.first; };
  points_.erase(std::ranges::unique(points_, same_size).begin(), points_.end());
  for (std::size_t i = 1; i + 1 < points_.size(); ++i) {
    const auto& [x, efficiency] = points_[i];
    distances_.push_back({x, std::log(efficiency / on_line(points_[i - 1], points_[i + 1], x))});
  }
}

bool EfficiencyCurve::spans(double size_ns) const {
  const double x = std::log(size_ns);
  return !points_.empty() && points_.front().first <= x && x <= points_.back().first;
}

double EfficiencyCurve::ns_of(double size_ns, double width) const {
  const double x = std::log(size_ns);
  const auto above = std::ranges::upper_bound(points_, std::pair(x, HUGE_VAL));
  if (above == points_.begin()) return std::exp(above->first) / (above->second * width);
  const double efficiency =
      above == points_.end() ? points_.back().second : on_line(*(above - 1), *above, x);
  return size_ns / (efficiency * width);
}

double EfficiencyCurve::error_at(double size_ns) const {
  constexpr std::size_t nearest = 4;
  const double x = std::log(size_ns);
  std::vector<Distance> near = distances_;
  std::ranges::stable_sort(near, [x](const Distance& a, const Distance& b) {
    return std::abs(a.log_size - x) < std::abs(b.log_size - x);
  });
  if (near.empty()) return NAN;
  near.resize(std::min(near.size(), nearest));
  double squares = 0;
  for (const Distance& distance : near) squares += distance.log_ratio * distance.log_ratio;
  const double deviation =
      std::sqrt(squares / static_cast<double>(near.size()) / kVarianceOfDistance);
  constexpr double most = 9;  // ten times: beyond that nothing is known, and no figure helps
  return std::min(most, std::expm1(student_t(near.size()) * deviation));
}

std::optional<std::pair<double, double>> EfficiencyCurve::impossible_point() const {
  constexpr double of_median = 1.4826;  // the deviation, of a normal distribution
  constexpr double least_told = 0.02;
  if (points_.empty()) return {};
  std::vector<double> all;
  for (const Distance& distance : distances_) all.push_back(std::abs(distance.log_ratio));
  const double deviation =
      all.empty() ? 0 : of_median * median(all) / std::sqrt(kVarianceOfDistance);
  const double range = std::max(least_told, student_t(distances_.size() + 1) * deviation);
  const auto best = std::ranges::max_element(
      points_, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (std::log(best->second) <= range) return {};
  return std::pair(std::exp(best->first), best->second);
}

}  // namespace handoff::lab

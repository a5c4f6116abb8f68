// SPDX-License-Identifier: MIT
#include "report/judged_rows.hpp"

#include <algorithm>
#include <cmath>

#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

bool can_divide(const Launches& launches) {
  return !launches.empty() &&
         std::all_of(launches.begin(), launches.end(), [](const std::vector<double>& bursts) {
           return !bursts.empty() && std::all_of(bursts.begin(), bursts.end(), [](double v) {
             return std::isfinite(v) && v > 0;
           });
         });
}

}  // namespace

std::optional<JudgedChange> judge_rows(const json& now, const json& before, double floor) {
  const auto launches_now = now.at("launches").get<Launches>();
  const auto launches_before = before.at("launches").get<Launches>();
  if (!can_divide(launches_now) || !can_divide(launches_before)) return {};
  const bool disturbed = now.at("status") == "noisy" || before.at("status") == "noisy";
  return judge_change(
      launches_now, launches_before,
      {.higher_is_better = now.at("better") == "higher", .floor = floor, .disturbed = disturbed});
}

double floor_of(const json& environment) {
  const double floor = figure_of(environment, "floor");
  return std::isfinite(floor) && floor > 0 ? floor : 0;
}

}  // namespace handoff::lab

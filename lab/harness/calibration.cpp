// SPDX-License-Identifier: MIT
// Whether an article's scheme, re-made here, behaves as its article says: if not, its rows must not
// stand for it.
#include "harness/bursts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/statistics.hpp"

namespace handoff::lab {
namespace {

constexpr double most_apart = 1.2;

Measurement* measured(std::vector<Measurement>& measurements, const std::string& contender,
                      const Cell& cell) {
  const auto found =
      std::find_if(measurements.begin(), measurements.end(), [&](const Measurement& measurement) {
        return measurement.contender.name == contender && measurement.cell == cell &&
               measurement.status == RowStatus::ok;
      });
  return found == measurements.end() ? nullptr : &*found;
}

}  // namespace

void calibrate(const std::vector<Calibration>& known, std::vector<Measurement>& measurements) {
  for (const Calibration& calibration : known) {
    Measurement* seed = measured(measurements, calibration.seed, calibration.cell);
    const Measurement* against = measured(measurements, calibration.against, calibration.cell);
    if (seed == nullptr || against == nullptr) continue;
    const double here = agreement(ratio(metric_of(*seed), metric_of(*against)), 0).value;
    const double apart = here / calibration.ratio;
    if (apart <= most_apart && apart >= 1 / most_apart) continue;
    seed->status = RowStatus::uncalibrated;
    seed->reason =
        fmt::format("its {} is {:.3g} times that of {}, known is {:.3g}", calibration.cell.metric(),
                    here, calibration.against, calibration.ratio);
  }
}

}  // namespace handoff::lab

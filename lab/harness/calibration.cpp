// SPDX-License-Identifier: MIT
#include "harness/calibration.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/statistics.hpp"

namespace handoff::lab {
namespace {

constexpr double most_apart = 1.2;

Row* measured(std::vector<Row>& rows, const std::string& contender, const Cell& cell) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.contender.name == contender && row.cell == cell && row.status == RowStatus::ok;
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

void calibrate(const std::vector<Calibration>& known, std::vector<Row>& rows) {
  for (const Calibration& calibration : known) {
    Row* seed = measured(rows, calibration.seed, calibration.cell);
    const Row* against = measured(rows, calibration.against, calibration.cell);
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

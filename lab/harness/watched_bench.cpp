// SPDX-License-Identifier: MIT
#include "harness/watched_bench.hpp"

#include "harness/calibration.hpp"

namespace handoff::lab {

void WatchedBench::watch(const std::vector<Contender>& contenders, Interrupt& interrupt,
                         bool patient) {
  if (watch_) return;
  watch_.emplace(contenders, plan(), interrupt);
  patient_ = patient;
}

std::optional<BlockReport> WatchedBench::measure(std::vector<Measurement>& block,
                                                 const std::vector<Calibration>& calibrations,
                                                 Progress& progress) {
  std::optional<BlockReport> report;
  if (watch_) {
    report = measure_watched(block, progress);
  } else {
    bench_.measure(block, progress);
  }
  calibrate(calibrations, block);
  return report;
}

// Repeats are for a disturbance that passes: where block after block stays disturbed, they would
// only take time.
BlockReport WatchedBench::measure_watched(std::vector<Measurement>& block, Progress& progress) {
  constexpr int hopeless = 2;
  const int most_repeats = !patient_ || disturbed_in_a_row_ >= hopeless ? 0 : 2;
  const std::vector<Measurement> fresh = block;
  for (int repeats = 0;; ++repeats) {
    watch_->begin();
    bench_.measure(block, progress);
    const Disturbance seen = watch_->end();
    const bool disturbed = !seen.reason.empty();
    if (disturbed && repeats < most_repeats) {
      block = fresh;
      continue;
    }
    disturbed_in_a_row_ = disturbed ? disturbed_in_a_row_ + 1 : 0;
    for (Measurement& measurement : block) {
      if (measurement.status != RowStatus::ok || !disturbed) continue;
      measurement.status = RowStatus::noisy;
      measurement.reason = seen.reason;
    }
    return {repeats, seen};
  }
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "harness/watched_bench.hpp"

namespace handoff::lab {
namespace {

KernelThreads kernel_in(const Measurement& measurement) {
  return measurement.problem != nullptr && measurement.problem->kernel_works_for_it()
             ? KernelThreads::work_for_us
             : KernelThreads::are_others;
}

}  // namespace

void Disturbances::add(const Disturbance& seen, double seconds) {
  sum_.foreign_cpus += seen.foreign_cpus * seconds;
  if (seen.kernel_cpus) {
    sum_.kernel_cpus = sum_.kernel_cpus.value_or(0) + *seen.kernel_cpus * seconds;
  }
  sum_.stolen_cpus += seen.stolen_cpus * seconds;
  sum_.throttled += seen.throttled;
  sum_.speed = seen.speed;
  seconds_ += seconds;
}

std::optional<BlockReport> Disturbances::report(int repeats, const std::string& reason) const {
  if (!(seconds_ > 0)) return {};
  BlockReport report{repeats, sum_};
  report.seen.foreign_cpus /= seconds_;
  if (report.seen.kernel_cpus) *report.seen.kernel_cpus /= seconds_;
  report.seen.stolen_cpus /= seconds_;
  report.seen.reason = reason;
  return report;
}

void WatchedBench::watch(const std::vector<Contender>& contenders, Interrupt& interrupt,
                         bool patient) {
  if (watch_) return;
  others_.emplace(getpid());
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

std::optional<Disturbance> WatchedBench::add_launch(const std::vector<Measurement*>& measurements,
                                                    int most_rounds, Clock::time_point end,
                                                    Progress& progress) {
  const bool any = !measurements.empty();
  if (watch_) begin_watching(any ? kernel_in(*measurements.front()) : KernelThreads::are_others);
  bench_.add_launch(measurements, most_rounds, end, progress);
  if (watch_) return end_watching();
  return {};
}

void WatchedBench::begin_watching(KernelThreads kernel) {
  kernel_ = kernel;
  watch_->begin(kernel);
  began_ = Clock::now();
}

Disturbance WatchedBench::end_watching() {
  constexpr std::chrono::seconds often_enough(1);  // processes live longer, those that take a lot
  const double took = std::chrono::duration<double>(Clock::now() - began_).count();
  const Disturbance seen = watch_->end();
  watched_s_ += took;
  foreign_s_ += seen.foreign_cpus * took;
  stolen_s_ += seen.stolen_cpus * took;
  if (Clock::now() - looked_ > often_enough) {
    others_->look(kernel_ == KernelThreads::are_others);
    looked_ = Clock::now();
  }
  return seen;
}

std::string WatchedBench::busy() {
  if (!(watched_s_ > 0)) return {};
  others_->look(kernel_ == KernelThreads::are_others);
  return busy_line(foreign_s_ / watched_s_, stolen_s_ / watched_s_, look().cpus,
                   others_->greediest());
}

// Repeats are for a disturbance that passes: where block after block stays disturbed, they would
// only take time.
BlockReport WatchedBench::measure_watched(std::vector<Measurement>& block, Progress& progress) {
  constexpr int hopeless = 2;
  const int most_repeats = !patient_ || disturbed_in_a_row_ >= hopeless ? 0 : 2;
  const std::vector<Measurement> fresh = block;
  for (int repeats = 0;; ++repeats) {
    begin_watching(block.empty() ? KernelThreads::are_others : kernel_in(block.front()));
    bench_.measure(block, progress);
    const Disturbance seen = end_watching();
    const bool disturbed = !seen.reason.empty();
    if (disturbed && repeats < most_repeats) {
      block = fresh;
      continue;
    }
    disturbed_in_a_row_ = disturbed ? disturbed_in_a_row_ + 1 : 0;
    for (Measurement& measurement : block) {
      if (measurement.status != RowStatus::ok) continue;
      const std::string reason = disturbed ? seen.reason : preempted(measurement);
      if (reason.empty()) continue;
      measurement.status = RowStatus::noisy;
      measurement.reason = reason;
    }
    return {repeats, seen};
  }
}

}  // namespace handoff::lab

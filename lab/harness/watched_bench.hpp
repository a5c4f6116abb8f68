// SPDX-License-Identifier: MIT
// Measures blocks and watches the machine meanwhile. A block that others disturbed is measured
// again, a few times; rows of one that stays disturbed are noisy, and seeds that do not behave as
// their article says uncalibrated.
#pragma once

#include "harness/greedy.hpp"
#include "harness/watch.hpp"

namespace handoff::lab {

// What happened on the machine while a block was measured.
struct BlockReport {
  int repeats = 0;  // because others disturbed it
  Disturbance seen;
};

// Of several launches that were watched one by one, as one of all of their time.
class Disturbances {
 public:
  void add(const Disturbance& seen, double seconds);
  // `reason`: why all of it is disturbed. Nothing: none was watched.
  [[nodiscard]] std::optional<BlockReport> report(int repeats, const std::string& reason) const;

 private:
  Disturbance sum_;  // each times its length
  double seconds_ = 0;
};

class WatchedBench {
 public:
  WatchedBench(const Plan& plan, Interrupt& interrupt) : bench_(plan, interrupt) {}

  // From now on: learns how fast the machine is, and how far equals are apart on it. `patient`:
  // disturbed blocks are repeated.
  void watch(const std::vector<Contender>& contenders, Interrupt& interrupt, bool patient);

  // Measures the block's rows against each other; nothing where nobody watches. Interrupted, the
  // block has what was measured until then.
  std::optional<BlockReport> measure(std::vector<Measurement>& block,
                                     const std::vector<Calibration>& calibrations,
                                     Progress& progress);

  // Bench::add_launch, and what happened on the machine meanwhile; nothing where nobody watches.
  std::optional<Disturbance> add_launch(const std::vector<Measurement*>& measurements,
                                        int most_rounds, Clock::time_point end, Progress& progress);

  // Who took the CPUs while it measured, for the terminal; empty: next to nobody did.
  [[nodiscard]] std::string busy();

  [[nodiscard]] Bench& bench() { return bench_; }
  [[nodiscard]] const Plan& plan() const { return bench_.plan(); }
  [[nodiscard]] const std::optional<Watch>& watched() const { return watch_; }

 private:
  BlockReport measure_watched(std::vector<Measurement>& block, Progress& progress);
  void begin_watching(KernelThreads kernel);
  Disturbance end_watching();

  Bench bench_;
  std::optional<Watch> watch_;
  Clock::time_point began_;
  KernelThreads kernel_ = KernelThreads::are_others;  // in what was measured last
  std::optional<GreedyProcesses> others_;
  Clock::time_point looked_;  // at them
  double watched_s_ = 0;
  double foreign_s_ = 0;  // CPU time that others took meanwhile
  double stolen_s_ = 0;
  bool patient_ = true;
  int disturbed_in_a_row_ = 0;
};

}  // namespace handoff::lab

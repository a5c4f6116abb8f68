// SPDX-License-Identifier: MIT
// Watches the machine while a session measures: probes its speed, and says of each block whether
// it was disturbed.
#pragma once

#include "harness/bursts.hpp"
#include "harness/machine.hpp"

namespace handoff::lab {

class Watch {
 public:
  // Finds out how fast the machine is, and how far equals are apart on it.
  Watch(const std::vector<Contender>& contenders, const Plan& plan, Interrupt& interrupt);

  void begin(KernelThreads kernel);  // of what is measured now
  Disturbance end();                 // what happened since

  // The median of all that it was found to be.
  [[nodiscard]] Speed usual() const;
  // The A-against-A floor: several launches of the same program took turns, and no two of them
  // differed by more than this. 0.01 means 1 %.
  [[nodiscard]] double floor() const { return floor_; }
  // The part of it that is no chance: no 99 % interval of two of them lies farther from 1. An
  // interval of many launches has the rest in it.
  [[nodiscard]] double certain_floor() const { return certain_floor_; }

 private:
  [[nodiscard]] std::vector<Measurement> rows(std::size_t count, int width) const;
  Speed probe();
  void measure_floor(const Plan& plan, Interrupt& interrupt);

  Contender contender_;
  Bench bench_;
  int cpus_;
  std::vector<double> speeds_of_one_;
  std::vector<double> speeds_of_all_;
  double floor_ = 0;
  double certain_floor_ = 0;
  KernelThreads kernel_ = KernelThreads::are_others;
  Look before_;
  Speed speed_before_;
  Speed latest_;
  Clock::time_point probed_;  // when that was
};

// Waits for a quiet moment before something is measured.
// Returns how many CPUs others took in the half second that was looked at last: less than
// kQuietCpus, unless the time is over. A terminal sees what it waits for. `look_now` is for tests.
double wait_until_quiet(
    std::chrono::duration<double> most, Interrupt& interrupt,
    const std::function<Look()>& look_now = [] { return look(); });

inline constexpr double kQuietCpus = 0.1;

}  // namespace handoff::lab

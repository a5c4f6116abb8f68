// SPDX-License-Identifier: MIT
// Who takes the CPUs while something is measured: other programs, by their names. The names are for
// the terminal only; what a user runs beside a measurement belongs in no file.
#pragma once

#include "harness/process_table.hpp"

namespace handoff::lab {

struct Greedy {
  std::string name;
  double cpus = 0;  // CPUs' worth of time
};

class GreedyProcesses {
 public:
  // `ours` and its children are not looked at. `root` is put before /proc; another one than "" is
  // for tests.
  explicit GreedyProcesses(pid_t ours, std::string root = "");

  // Counts what all others took since the look before it, the first of which the constructor took.
  // A process that starts and ends between two looks is not seen.
  // `at_kernel`: its threads are others too.
  void look(bool at_kernel = true);

  // The greediest `most` programs, over all that was looked at. Programs of one name are one.
  [[nodiscard]] std::vector<Greedy> greediest(std::size_t most = 3) const;

 private:
  [[nodiscard]] bool is_ours(pid_t process, const ProcessTable& all) const;

  pid_t ours_;
  std::string root_;
  double start_s_;
  double time_s_;  // of the last look
  ProcessTable before_;
  std::map<std::string, double> taken_;  // seconds, by name
};

// "Busy machine: other programs took 0.9 of 2 CPUs: ffmpeg 0.6, cc1plus 0.2". Empty where they and
// the host took next to nothing.
[[nodiscard]] std::string busy_line(double foreign_cpus, double stolen_cpus, int cpus,
                                    const std::vector<Greedy>& greediest);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "harness/greedy.hpp"

namespace handoff::lab {
namespace {

double now_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

GreedyProcesses::GreedyProcesses(pid_t ours, std::string root)
    : ours_(ours),
      root_(std::move(root)),
      start_s_(now_s()),
      time_s_(start_s_),
      before_(process_table(root_)) {}

void GreedyProcesses::look(bool at_kernel) {
  ProcessTable now = process_table(root_);
  time_s_ = now_s();
  for (const auto& [id, process] : now) {
    if (is_ours(id, now) || (process.is_kernel && !at_kernel)) continue;
    const double taken = seconds_since(before_, id, process);
    if (taken > 0) taken_[process.name] += taken;
  }
  before_ = std::move(now);
}

std::vector<Greedy> GreedyProcesses::greediest(std::size_t most) const {
  constexpr double least_cpus = 0.05;
  const double wall_s = std::max(time_s_ - start_s_, 1e-9);
  std::vector<Greedy> all;
  for (const auto& [name, seconds] : taken_) {
    if (seconds >= least_cpus * wall_s) all.push_back({name, seconds / wall_s});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Greedy::cpus);
  if (all.size() > most) all.resize(most);
  return all;
}

bool GreedyProcesses::is_ours(pid_t process, const ProcessTable& all) const {
  for (std::size_t steps = 0; steps <= all.size(); ++steps) {
    if (process == ours_) return true;
    const auto found = all.find(process);
    if (found == all.end()) return false;
    process = found->second.parent;
  }
  return false;
}

std::string busy_line(double foreign_cpus, double stolen_cpus, int cpus,
                      const std::vector<Greedy>& greediest) {
  constexpr double least_cpus = 0.1;
  if (foreign_cpus + stolen_cpus < least_cpus) return {};
  std::string line = "Busy machine: ";
  if (foreign_cpus >= least_cpus / 2) {
    line += fmt::format("other programs took {:.1f} of {} CPUs", foreign_cpus, cpus);
    const char* separator = ": ";
    for (const Greedy& greedy : greediest) {
      line += fmt::format("{}{} {:.1f}", std::exchange(separator, ", "), greedy.name, greedy.cpus);
    }
  }
  if (stolen_cpus >= least_cpus / 2) {
    line += fmt::format("{}its host took {:.1f} of {} CPUs away",
                        foreign_cpus >= least_cpus / 2 ? "; " : "", stolen_cpus, cpus);
  }
  return line;
}

}  // namespace handoff::lab

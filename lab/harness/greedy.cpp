// SPDX-License-Identifier: MIT
#include "harness/greedy.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

double now_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<pid_t> process_of(const std::string& name) {
  pid_t process = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, process);
  if (error != std::errc{} || rest != end) return {};
  return process;
}

// What a program calls itself goes to a terminal: nothing in it may act there.
std::string harmless(std::string name) {
  std::replace_if(name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

GreedyProcesses::GreedyProcesses(pid_t ours, std::string root)
    : ours_(ours),
      root_(std::move(root)),
      start_s_(now_s()),
      time_s_(start_s_),
      before_(processes()) {}

void GreedyProcesses::look() {
  Processes now = processes();
  time_s_ = now_s();
  for (const auto& [id, process] : now) {
    if (is_ours(id, now)) continue;
    const auto known = before_.find(id);
    const bool same = known != before_.end() && known->second.started == process.started;
    const double taken = process.seconds - (same ? known->second.seconds : 0);
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
  std::stable_sort(all.begin(), all.end(),
                   [](const Greedy& a, const Greedy& b) { return a.cpus > b.cpus; });
  if (all.size() > most) all.resize(most);
  return all;
}

// "7 (a name) R 1 ...": the name may have blanks and brackets in it; see proc(5).
GreedyProcesses::Processes GreedyProcesses::processes() const {
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  Processes all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root_ + "/proc", none)) {
    const std::optional<pid_t> id = process_of(entry.path().filename());
    if (!id) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto open = line.find('(');
    const auto close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) continue;
    std::istringstream fields(line.substr(close + 1));
    std::string state;
    std::string skipped;
    Process process;
    double user = 0;
    double system = 0;
    fields >> state >> process.parent;
    for (int i = 0; i < 9; ++i) fields >> skipped;  // up to cmajflt
    fields >> user >> system;
    for (int i = 0; i < 6; ++i) fields >> skipped;  // up to itrealvalue
    fields >> process.started;
    if (!fields) continue;
    process.name = harmless(line.substr(open + 1, close - open - 1));
    process.seconds = (user + system) * tick_s;
    all[*id] = std::move(process);
  }
  return all;
}

bool GreedyProcesses::is_ours(pid_t process, const Processes& all) const {
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

// SPDX-License-Identifier: MIT
#include "harness/process_table.hpp"
#include "harness/plain_text.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// "7 (a name) R 1 ...": the name may have blanks and brackets in it; see proc(5).
std::optional<Process> process_in(const std::string& line) {
  static const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  constexpr unsigned long kernel_thread = 0x00200000;  // PF_KTHREAD, the same since Linux 2.6.27
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::istringstream fields(line.substr(close + 1));
  std::string state;
  std::string skipped;
  Process process;
  unsigned long flags = 0;
  double user = 0;
  double system = 0;
  fields >> state >> process.parent;
  for (int i = 0; i < 4; ++i) fields >> skipped;  // up to tpgid
  fields >> flags;
  for (int i = 0; i < 4; ++i) fields >> skipped;  // up to cmajflt
  fields >> user >> system;
  for (int i = 0; i < 6; ++i) fields >> skipped;  // up to itrealvalue
  fields >> process.started;
  if (!fields) return {};
  process.name = in_ascii(line.substr(open + 1, close - open - 1));  // it goes to a terminal
  process.is_kernel = (flags & kernel_thread) != 0;
  process.seconds = (user + system) * tick_s;
  return process;
}

}  // namespace

ProcessTable process_table(const std::string& root) {
  ProcessTable all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root + "/proc", none)) {
    const auto id = whole_number_in(entry.path().filename().string());
    if (!id) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    if (std::optional<Process> process = process_in(line)) {
      all[static_cast<pid_t>(*id)] = std::move(*process);
    }
  }
  return all;
}

double seconds_since(const ProcessTable& before, pid_t id, const Process& now) {
  const auto known = before.find(id);
  const bool same = known != before.end() && known->second.started == now.started;
  return now.seconds - (same ? known->second.seconds : 0);
}

}  // namespace handoff::lab

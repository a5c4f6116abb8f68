// SPDX-License-Identifier: MIT
#include "harness/process_table.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

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
  process.name = harmless(line.substr(open + 1, close - open - 1));
  process.is_kernel = (flags & kernel_thread) != 0;
  process.seconds = (user + system) * tick_s;
  return process;
}

}  // namespace

ProcessTable process_table(const std::string& root) {
  ProcessTable all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root + "/proc", none)) {
    const std::optional<pid_t> id = process_of(entry.path().filename());
    if (!id) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    if (std::optional<Process> process = process_in(line)) all[*id] = std::move(*process);
  }
  return all;
}

double seconds_since(const ProcessTable& before, pid_t id, const Process& now) {
  const auto known = before.find(id);
  const bool same = known != before.end() && known->second.started == now.started;
  return now.seconds - (same ? known->second.seconds : 0);
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// The processes that /proc shows, and how long each was on a CPU. Those that are hidden (another
// namespace, hidepid) are not there.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

struct Process {
  std::string name;  // safe to print
  pid_t parent = 0;
  bool is_kernel = false;  // one of the kernel's own threads
  double seconds = 0;      // on a CPU
  double started = 0;
};
using ProcessTable = std::map<pid_t, Process>;

// `root` is put before /proc; another one than "" is for tests.
[[nodiscard]] ProcessTable process_table(const std::string& root = "");

// How long the process was on a CPU since `before`; one that was not there then, always.
[[nodiscard]] double seconds_since(const ProcessTable& before, pid_t id, const Process& now);

}  // namespace handoff::lab

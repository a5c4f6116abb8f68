// SPDX-License-Identifier: MIT
// Other programs, run quietly: git, cmake.
#pragma once

#include "harness/interrupt.hpp"

namespace handoff::lab {

struct ToolResult {
  int exit_code;  // 127: it could not be started, 124: it took too long, 128 + signal: it was
                  // killed
  std::string output;  // stdout and stderr, as they came
};

// How long is waited for it, with an `interrupt`.
struct ToolPatience {
  std::chrono::seconds first_line{std::chrono::hours(24)};  // else it is ended
  std::chrono::seconds grace{10};                           // asked to end, it may take so long
};

// Waits for its end. `on_line` sees each line of output as it comes, and ends the tool if it
// throws. The tool and what it starts are one process group, which is ended if a signal ends the
// wait (Interrupted) or this program dies. Without `interrupt` nothing ends the wait.
ToolResult run_tool(const std::vector<std::string>& command, Interrupt* interrupt,
                    const std::function<void(const std::string&)>& on_line = {},
                    ToolPatience patience = {});

// Of a failed one: that it could not be started, or the line of its output that says most, the
// first with an error in it, else the last.
std::string why_failed(const std::vector<std::string>& command, const ToolResult& result);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// Reads the traces that the lab can replay. Which form a file has its first bytes say.
#pragma once

#include "replay/trace.hpp"
#include "replay/trace_file.hpp"

namespace handoff::lab::replay {

// Throws UserError: one line that names the file, the line and what is wrong. What the pieces and
// their edges promise (trace.hpp) is checked, and that no piece waits for itself.
Trace read_trace(const std::filesystem::path& path, Tick tick = {});

// The readers of the forms. What they return is not sorted nor checked yet.
Trace read_ninja_log(TraceFile& file);
Trace read_csv(TraceFile& file);
Trace read_chrome_trace(TraceFile& file);

}  // namespace handoff::lab::replay

// SPDX-License-Identifier: MIT
// `handoff trace`: what a trace says, of a program or of a scenario's contender.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// The exit code. Throws UserError.
int show_trace(const TraceOptions& options);

}  // namespace handoff::lab

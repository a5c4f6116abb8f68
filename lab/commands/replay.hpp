// SPDX-License-Identifier: MIT
// `handoff replay`: a trace of one's own program under every way, and which one to take.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// The exit code. Throws UserError.
int replay_trace(const ReplayOptions& options);

}  // namespace handoff::lab

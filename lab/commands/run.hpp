// SPDX-License-Identifier: MIT
// `handoff run`: measures scenarios side by side, or multiplies real matrices.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError, Interrupted.
int run(const RunOptions& options);

}  // namespace handoff::lab

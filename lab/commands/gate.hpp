// SPDX-License-Identifier: MIT
// `handoff gate`: the figures that must hold, each with a verdict.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError, Interrupted.
int gate(const GateOptions& options);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// `handoff advise`: which way fits some work, by what was measured on this machine.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError.
int advise(const AdviseOptions& options);

}  // namespace handoff::lab

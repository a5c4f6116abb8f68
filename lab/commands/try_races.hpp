// SPDX-License-Identifier: MIT
// `handoff try --tsan`: whether ThreadSanitizer sees a race in the user's own loop.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError, Interrupted.
int look_for_races(const TryOptions& options);

}  // namespace handoff::lab

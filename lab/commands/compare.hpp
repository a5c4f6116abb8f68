// SPDX-License-Identifier: MIT
// `handoff compare`: two result files, or this build against another revision of the source,
// measured interleaved.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError, Interrupted.
int compare(const CompareOptions& options);

}  // namespace handoff::lab

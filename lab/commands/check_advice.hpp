// SPDX-License-Identifier: MIT
// `handoff check-advice`: whether advice holds, on loads drawn at random whose rows it has not
// seen.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError.
int check_advice(const CheckAdviceOptions& options);

}  // namespace handoff::lab

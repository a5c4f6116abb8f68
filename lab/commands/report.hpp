// SPDX-License-Identifier: MIT
// `handoff report`: one page from result files, of one machine or of many.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError.
int report(const ReportOptions& options);

}  // namespace handoff::lab

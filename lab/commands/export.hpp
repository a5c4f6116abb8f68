// SPDX-License-Identifier: MIT
// `handoff export`: a result file in the form of another program.
#pragma once

#include "commands/options.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError.
int export_result(const ExportOptions& options);

}  // namespace handoff::lab

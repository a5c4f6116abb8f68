// SPDX-License-Identifier: MIT
// The ladder as text for a README: its sentence, a table with a line for each rung, and what it was
// measured on.
#pragma once

#include <string>

#include "report/result.hpp"

namespace handoff::lab {

// Throws UserError where no rungs were chosen.
std::string ladder_markdown(const Result& result);

}  // namespace handoff::lab

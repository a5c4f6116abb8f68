// SPDX-License-Identifier: MIT
// A result as tables for a terminal.
#pragma once

#include <string>

#include "report/result.hpp"

namespace handoff::lab {

// `styled`: with escape sequences for a terminal.
std::string tables(const Result& result, bool styled);

}  // namespace handoff::lab

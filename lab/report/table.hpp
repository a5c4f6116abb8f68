// SPDX-License-Identifier: MIT
// A result file as tables for a terminal.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace handoff::lab {

// `styled`: with escape sequences for a terminal.
std::string tables(const nlohmann::json& result, bool styled);

}  // namespace handoff::lab

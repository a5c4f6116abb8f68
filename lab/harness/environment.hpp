// SPDX-License-Identifier: MIT
// Where and with what a result was measured: without it a figure means nothing.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/scenario.hpp"

namespace handoff::lab {

// Of this machine and this build, now. `variables` are those that contenders were started with.
nlohmann::json environment(const std::vector<std::string>& command_line, std::uint64_t seed,
                           const std::vector<Variable>& variables);

// For --version: version, commit, compiler and flags.
std::string build_description();

}  // namespace handoff::lab

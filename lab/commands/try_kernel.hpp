// SPDX-License-Identifier: MIT
// `handoff try`: the user's own loop under every way, or a project with such a loop.
#pragma once

#include <chrono>

#include "commands/options.hpp"
#include "harness/scenario.hpp"

namespace handoff::lab {

// Returns the exit code. Throws UserError, Interrupted.
int try_kernel(const TryOptions& options);

// What was asked for, checked. Throw UserError.
std::chrono::nanoseconds try_limit_of(const TryOptions& options);
Cell try_cell_of(const Scenario& trial, const TryOptions& options);

}  // namespace handoff::lab

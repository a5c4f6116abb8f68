// SPDX-License-Identifier: MIT
// A trace of one contender of a scenario.
#pragma once

#include <filesystem>
#include <string>

#include "commands/options.hpp"
#include "harness/interrupt.hpp"
#include "harness/launch.hpp"

namespace handoff::lab {

// Starts one contender with HANDOFF_TRACE, has it work for a short burst, checks its answer and
// lets it end. Returns what was traced, in words. Throws UserError if there is no such thing to
// trace, Dropped if it breaks.
std::string trace_contender(const TraceOptions& options, const std::filesystem::path& into,
                            Interrupt& interrupt);

}  // namespace handoff::lab

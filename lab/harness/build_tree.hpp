// SPDX-License-Identifier: MIT
// The build tree that this program stands in: it makes contenders once something needs them. An
// installed program has none, and the contenders that were built by then.
#pragma once

#include "harness/contender_list.hpp"
#include "harness/interrupt.hpp"

namespace handoff::lab {

// Its folder; nothing: the program is installed.
std::optional<std::filesystem::path> build_tree();

// By which this build makes contenders, those that it makes, in all of their layouts.
std::set<std::string> targets_of(const std::vector<Contender>& contenders);

// Builds those that this build makes and that are not there, one process at a time. Throws
// UserError that names the file with all that the build said, and Interrupted.
void build_missing(const std::vector<Contender>& contenders, Interrupt& interrupt);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// The table of the article on command buckets, in the cells that stand for it.
#pragma once

#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab::commands {

std::vector<Article> articles_of_commands();

// The article's own code on a machine with two CPUs that we know.
std::vector<Calibration> calibrations_of_commands();

}  // namespace handoff::lab::commands

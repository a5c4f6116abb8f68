// SPDX-License-Identifier: MIT
// The values of --set, which several commands take.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab {

// From PARAMETER=VALUE,... each. Throws UserError.
Scenario::Values values_of(const std::vector<std::string>& settings);

}  // namespace handoff::lab

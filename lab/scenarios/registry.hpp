// SPDX-License-Identifier: MIT
// All scenarios of the lab.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/scenario.hpp"

namespace handoff::lab {

using Scenarios = std::vector<std::unique_ptr<Scenario>>;

Scenarios all_scenarios();

// Throws UserError with the nearest name.
Scenario& scenario_named(const Scenarios& scenarios, const std::string& name);

}  // namespace handoff::lab

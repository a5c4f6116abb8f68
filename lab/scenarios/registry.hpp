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

// Throws UserError with the nearest name. A rung could be named, too, where these names are given.
Scenario& scenario_named(const Scenarios& scenarios, const std::string& name,
                         const std::vector<std::string>& rungs = {});

}  // namespace handoff::lab

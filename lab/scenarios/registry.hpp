// SPDX-License-Identifier: MIT
// All scenarios of the lab.
#pragma once

#include "harness/scenario.hpp"

namespace handoff::lab {

using Scenarios = std::vector<std::unique_ptr<Scenario>>;

Scenarios all_scenarios();

// The table of each, in its folder.
ScenarioTable algorithms_scenario();
ScenarioTable channels_scenario();
ScenarioTable commands_scenario();
ScenarioTable events_scenario();
ScenarioTable files_scenario();
ScenarioTable forkjoin_scenario();
ScenarioTable grain_scenario();
ScenarioTable graph_scenario();
ScenarioTable loads_scenario();
ScenarioTable machine_scenario();
ScenarioTable matmul_scenario();
ScenarioTable messages_scenario();
ScenarioTable pipeline_scenario();
ScenarioTable processes_scenario();
ScenarioTable spawn_scenario();
ScenarioTable tasks_scenario();

// Throws UserError with the nearest name. A rung could be named, too, where these names are given.
Scenario& scenario_named(const Scenarios& scenarios, const std::string& name,
                         const std::vector<std::string>& rungs = {});

}  // namespace handoff::lab

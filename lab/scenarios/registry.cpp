// SPDX-License-Identifier: MIT
#include "scenarios/registry.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {

Scenarios all_scenarios() {
  Scenarios scenarios;
  for (const auto table : {matmul_scenario, events_scenario, channels_scenario, messages_scenario,
                           processes_scenario, commands_scenario, files_scenario, tasks_scenario,
                           forkjoin_scenario, grain_scenario, algorithms_scenario, graph_scenario,
                           pipeline_scenario, loads_scenario, spawn_scenario, machine_scenario}) {
    scenarios.push_back(std::make_unique<Scenario>(table()));
  }
  return scenarios;
}

Scenario& scenario_named(const Scenarios& scenarios, const std::string& name,
                         const std::vector<std::string>& rungs) {
  std::vector<std::string> names;
  for (const auto& scenario : scenarios) {
    if (scenario->name() == name) return *scenario;
    names.push_back(scenario->name());
  }
  names.insert(names.end(), rungs.begin(), rungs.end());
  throw UserError("there is no scenario{} '{}'; {}", rungs.empty() ? "" : " or rung", name,
                  nearest_name(name, names));
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "scenarios/registry.hpp"

#include <fmt/format.h>

#include "harness/nearest_name.hpp"
#include "harness/user_error.hpp"
#include "scenarios/channels/scenario.hpp"
#include "scenarios/commands/scenario.hpp"
#include "scenarios/events/scenario.hpp"
#include "scenarios/files/scenario.hpp"
#include "scenarios/forkjoin/scenario.hpp"
#include "scenarios/grain/scenario.hpp"
#include "scenarios/loads/scenario.hpp"
#include "scenarios/machine/scenario.hpp"
#include "scenarios/matmul/scenario.hpp"
#include "scenarios/messages/scenario.hpp"
#include "scenarios/processes/scenario.hpp"
#include "scenarios/spawn/scenario.hpp"
#include "scenarios/tasks/scenario.hpp"

namespace handoff::lab {

Scenarios all_scenarios() {
  Scenarios scenarios;
  scenarios.push_back(matmul::make_scenario());
  scenarios.push_back(events::make_scenario());
  scenarios.push_back(channels::make_scenario());
  scenarios.push_back(messages::make_scenario());
  scenarios.push_back(processes::make_scenario());
  scenarios.push_back(commands::make_scenario());
  scenarios.push_back(files::make_scenario());
  scenarios.push_back(tasks::make_scenario());
  scenarios.push_back(forkjoin::make_scenario());
  scenarios.push_back(grain::make_scenario());
  scenarios.push_back(loads::make_scenario());
  scenarios.push_back(spawn::make_scenario());
  scenarios.push_back(machine::make_scenario());
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
  throw UserError(fmt::format("there is no scenario{} '{}'; {}", rungs.empty() ? "" : " or rung",
                              name, nearest_name(name, names)));
}

}  // namespace handoff::lab

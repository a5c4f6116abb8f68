// SPDX-License-Identifier: MIT
#include "commands/canaries.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace handoff::lab {
namespace {

Cell first_cell_of(const Scenario& scenario, const Contender& twin) {
  Scenario::Values values;
  std::vector<std::string> metrics;
  for (const auto& [name, allowed] : twin.when) {
    if (name == "metric") {
      metrics = allowed;
    } else {
      values.emplace_back(name, allowed);
    }
  }
  return scenario.cells(values, metrics).front();
}

}  // namespace

std::string Canary::name() const {
  const std::string parameters = cell.text();
  return fmt::format("{} {}: {}{}{}", scenario->name(), contender.name, cell.metric(),
                     parameters.empty() ? "" : " ", parameters);
}

bool Canary::higher_is_better() const { return scenario->metric(cell.metric()).higher_is_better; }

bool Canary::is_alone() const { return cell.find("width") == nullptr || cell.number("width") == 1; }

std::vector<Measurement> Canary::pair(std::vector<Variable> variables) const {
  Measurement one{contender, cell, scenario->problem(cell), std::move(variables)};
  Measurement other = one;
  other.contender = twin;
  return {std::move(one), std::move(other)};
}

std::vector<Canary> canaries_of(const Scenarios& scenarios,
                                const std::vector<Contender>& contenders,
                                const std::vector<Contender>& twins) {
  std::vector<Canary> canaries;
  for (const Contender& twin : twins) {
    const auto contender =
        std::find_if(contenders.begin(), contenders.end(), [&](const Contender& candidate) {
          return candidate.scenario == twin.scenario && candidate.name == twin.name;
        });
    if (contender == contenders.end() || !contender->built() || !twin.built()) continue;
    Scenario& scenario = scenario_named(scenarios, twin.scenario);
    canaries.push_back({&scenario, *contender, twin, first_cell_of(scenario, twin)});
  }
  return canaries;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "commands/list.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "harness/contender_list.hpp"
#include "harness/rungs.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {
namespace {

// On the ladder, or beside it.
bool in_overview(const Scenario& scenario, const Metric& metric) {
  const auto is_one = [&](const auto& part) {
    return part.scenario == scenario.name() && part.cell.metric() == metric.name;
  };
  return std::any_of(rung_kinds().begin(), rung_kinds().end(), is_one) ||
         std::any_of(cells_beside_the_rungs().begin(), cells_beside_the_rungs().end(), is_one);
}

void print(const Scenario& scenario, const Metric& metric) {
  fmt::print("    {:<18} {}\n{:23}{}, {} is better{}\n", metric.name, metric.meaning, "",
             metric.unit, metric.higher_is_better ? "higher" : "lower",
             in_overview(scenario, metric) ? "; in the overview" : "");
}

void print(const Parameter& parameter) {
  const std::string allowed = parameter.words.empty()
                                  ? fmt::format("{} to {}", parameter.low, parameter.high)
                                  : fmt::format("{}", fmt::join(parameter.words, ", "));
  const std::string of =
      parameter.metrics.empty() ? "" : fmt::format("; of {}", fmt::join(parameter.metrics, ", "));
  const std::string otherwise =
      parameter.defaults.empty() ? "none" : fmt::format("{}", fmt::join(parameter.defaults, ", "));
  fmt::print("    {:<18} {}\n{:23}default {}; allowed {}{}\n", parameter.name, parameter.meaning,
             "", otherwise, allowed, of);
}

void print(const Contender& contender) {
  std::string where;
  for (const auto& [name, values] : contender.when) {
    where += fmt::format("  {}={}", name, fmt::join(values, ","));
  }
  if (!contender.order.empty()) where += fmt::format("  order: {}", contender.order);
  const std::string state = contender.built() ? "available" : contender.why_not_built();
  fmt::print("    {:<18} {}{}\n", contender.name, state, where);
}

void print(const Scenario& scenario, const std::vector<Contender>& contenders) {
  fmt::print("{}: {}\n  metrics\n", scenario.name(), scenario.summary());
  for (const Metric& metric : scenario.metrics()) print(scenario, metric);
  fmt::print("  parameters\n");
  for (const Parameter& parameter : scenario.parameters()) print(parameter);
  fmt::print("  contenders\n");
  for (const Contender& contender : contenders) {
    if (contender.scenario == scenario.name()) print(contender);
  }
}

}  // namespace

int list(const ListOptions& options) {
  const auto contenders = read_contenders(options.manifests);
  const Scenarios scenarios = all_scenarios();
  if (!options.name.empty()) {
    print(scenario_named(scenarios, options.name), contenders);
    return exit_code::ok;
  }
  for (const auto& scenario : scenarios) print(*scenario, contenders);
  return exit_code::ok;
}

}  // namespace handoff::lab

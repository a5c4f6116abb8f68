// SPDX-License-Identifier: MIT
// `handoff list`: what can be measured, with what, and which contenders this build has.
#include "commands/commands.hpp"

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

std::string state_of(const Contender& contender) {
  return contender.built() ? "available" : contender.why_not_built();
}

void print(const Contender& contender) {
  std::string where;
  for (const auto& [name, values] : contender.when) {
    where += fmt::format("  {}={}", name, fmt::join(values, ","));
  }
  if (!contender.order.empty()) where += fmt::format("  order: {}", contender.order);
  fmt::print("    {:<18} {}{}\n", contender.name, state_of(contender), where);
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

std::string one_cell(const std::string& scenario, const Cell& cell) {
  std::string text = fmt::format("handoff run {} --metrics {}", scenario, cell.metric());
  for (const auto& [name, value] : cell) text += fmt::format(" --set {}={}", name, value);
  return text;
}

void print_how_to_run(const Scenario& scenario) {
  fmt::print("  how to run it\n    handoff run {}\n    {}\n", scenario.name(),
             one_cell(scenario.name(), scenario.cells({}).front()));
  for (const RungKind& kind : rung_kinds()) {
    if (kind.scenario == scenario.name()) fmt::print("    handoff run {:<10} a rung\n", kind.name);
  }
}

void print(const RungKind& kind, const std::vector<Contender>& contenders) {
  fmt::print(
      "{}: {}, a rung of the ladder\n  ways: this library's, two peers, what people write, "
      "the minimal version\n",
      kind.name, kind.title);
  std::vector<std::string> names{kind.own};
  names.insert(names.end(), kind.peers.begin(), kind.peers.end());
  names.insert(names.end(), {kind.today, kind.limit});
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) continue;
    for (const Contender& contender : contenders) {
      if (contender.scenario == kind.scenario && contender.name == *name) print(contender);
    }
  }
  fmt::print(
      "  how to run it\n    {:<28} this rung, measured longer than in an overview\n"
      "    {:<28} its scenario\n    {}\n",
      "handoff run " + kind.name, "handoff run " + kind.scenario,
      one_cell(kind.scenario, kind.cell));
}

}  // namespace

int list(const ListOptions& options) {
  const auto contenders = read_contenders(options.manifests);
  const Scenarios scenarios = all_scenarios();
  if (const RungKind* rung = rung_kind_named(options.name)) {
    print(*rung, contenders);
  } else if (!options.name.empty()) {
    const Scenario& scenario = scenario_named(scenarios, options.name, rung_names());
    print(scenario, contenders);
    print_how_to_run(scenario);
  } else {
    for (const auto& scenario : scenarios) print(*scenario, contenders);
    fmt::print("rungs of the ladder\n");
    for (const RungKind& kind : rung_kinds()) fmt::print("    {:<18} {}\n", kind.name, kind.title);
  }
  return exit_code::ok;
}

}  // namespace handoff::lab

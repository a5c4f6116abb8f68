// SPDX-License-Identifier: MIT
#include "commands/trace_scenario.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "commands/session.hpp"
#include "harness/build_tree.hpp"
#include "harness/contender_list.hpp"
#include "harness/user_error.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {
namespace {

struct Traced {
  Contender contender;
  Cell cell;
};

std::vector<Contender> contenders_of(const Scenario& scenario, const TraceOptions& options) {
  std::vector<Contender> all = contenders_of(scenario.name(), read_contenders(options.manifests));
  if (options.contender.empty()) {
    std::erase_if(all, [](const Contender& one) { return one.kind() != "own" || !one.built(); });
    return all;
  }
  std::vector<std::string> names;
  for (const Contender& one : all) names.push_back(one.name);
  std::erase_if(all, [&](const Contender& one) { return one.name != options.contender; });
  if (all.empty()) {
    throw UserError(fmt::format("--contender: {} has no '{}'; {}", scenario.name(),
                                options.contender, nearest_name(options.contender, names)));
  }
  if (!all.front().built()) {
    throw UserError(
        fmt::format("--contender: {}: {}", options.contender, all.front().why_not_built()));
  }
  return all;
}

// The first cell in which one of them can be traced.
Traced choose(const Scenario& scenario, const TraceOptions& options) {
  const std::vector<Contender> contenders = contenders_of(scenario, options);
  std::vector<std::string> metrics;
  if (!options.metric.empty()) metrics.push_back(options.metric);
  for (const Cell& cell : scenario.cells(values_of(options.settings), metrics)) {
    for (const Contender& contender : contenders) {
      if (contender.applies(cell)) return {contender, cell};
    }
  }
  throw UserError(fmt::format(
      "scenario '{}': {} applies to none of the cells; `handoff list` says where it applies",
      scenario.name(), options.contender.empty() ? "no own.* contender" : options.contender));
}

}  // namespace

std::string trace_contender(const TraceOptions& options, const std::filesystem::path& into,
                            Interrupt& interrupt) {
  const Scenarios scenarios = all_scenarios();
  Scenario& scenario = scenario_named(scenarios, options.what);
  const auto [contender, cell] = choose(scenario, options);
  build_missing({contender}, interrupt);
  const auto problem = scenario.problem(cell);
  const std::vector<Variable> variables{{"HANDOFF_TRACE", into.string()}};
  const auto patience = std::max<std::chrono::nanoseconds>(std::chrono::seconds(60),
                                                           4 * problem->slowest_operation());
  Launch launch(contender, *problem, variables, {}, interrupt);
  launch.prepare(cell, patience);
  static_cast<void>(launch.burst(std::chrono::milliseconds(20), patience));
  if (auto fault = problem->fault(contender.kind() == "limit", launch.answer())) {
    throw Dropped{RowStatus::wrong, *fault};
  }
  launch.finish(patience);
  launch.leave(patience);
  return fmt::format("{} {}, {} {}", scenario.name(), contender.name, cell.metric(), cell.text());
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "commands/session.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "harness/environment.hpp"
#include "harness/user_error.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

Plan plan_of(const MeasureOptions& options) {
  constexpr int most_launches = 1000;
  constexpr double most_seconds = 86400;
  Plan plan;
  if (options.quick) {
    plan.launches = 3;
    plan.most_rounds = 3;
    plan.burst = std::chrono::milliseconds(50);
    plan.budget = std::chrono::seconds(8);
  }
  if (options.launches) plan.launches = *options.launches;
  if (plan.launches < 1 || plan.launches > most_launches) {
    throw UserError(fmt::format("--launches takes 1 to {}, not {}", most_launches, plan.launches));
  }
  if (options.time_budget_s) {
    const double seconds = *options.time_budget_s;
    if (!(seconds > 0 && seconds <= most_seconds)) {
      throw UserError(fmt::format("--time-budget takes seconds above 0 and up to {}, not {}",
                                  most_seconds, seconds));
    }
    plan.budget = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
  }
  plan.seed = options.seed ? *options.seed : std::random_device{}();
  return plan;
}

}  // namespace

Session::Session(const MeasureOptions& options, Interrupt& interrupt)
    : options_(options),
      contenders_(read_contenders(options.manifests)),
      bench_(plan_of(options), interrupt) {}

void Session::measure(Scenario& scenario, const std::vector<Block>& blocks) {
  find_variables(scenario, blocks);
  Progress progress(static_cast<int>(blocks.size()) * plan().launches);
  for (const Block& block : blocks) {
    std::vector<Row> rows;
    for (const auto& [contender, cell] : block) {
      rows.push_back({contender, cell, scenario.problem(cell), variables_[scenario.name()],
                      RowStatus::ok, {}, {}});
    }
    bench_.measure(rows, progress);
    for (const Row& row : rows) {
      rows_.push_back(row_to_json(scenario, row, plan().seed));
      rows_.back()["block"] = blocks_;
    }
    ++blocks_;
  }
}

// Once for all of a scenario's measurements: they must not differ in this.
void Session::find_variables(Scenario& scenario, const std::vector<Block>& blocks) {
  if (variables_.contains(scenario.name())) return;
  std::vector<Cell> cells;
  for (const Block& block : blocks) {
    for (const Entry& entry : block) cells.push_back(entry.cell);
  }
  variables_[scenario.name()] = scenario.variables(cells, contenders_, bench_);
}

nlohmann::json Session::result(nlohmann::json articles) const {
  std::vector<Variable> all;
  for (const auto& [scenario, variables] : variables_) {
    all.insert(all.end(), variables.begin(), variables.end());
  }
  return result_file(environment(options_.command_line, plan().seed, all), rows_,
                     std::move(articles));
}

bool Session::broken() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const nlohmann::json& row) {
    return row.at("status") == "wrong" || row.at("status") == "failed";
  });
}

}  // namespace handoff::lab

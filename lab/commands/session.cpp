// SPDX-License-Identifier: MIT
#include "commands/session.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "harness/calibration.hpp"
#include "harness/environment.hpp"
#include "harness/row_details.hpp"
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
    plan.most_launches = 3;
    plan.most_rounds = 3;
    plan.burst = std::chrono::milliseconds(50);
    plan.budget = std::chrono::seconds(8);
  }
  if (options.launches) plan.launches = plan.most_launches = *options.launches;
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

// Whether a block that was cut short has something to say about this row.
bool has_anything(Row& row) {
  std::erase_if(row.launches, [](const auto& bursts) { return bursts.empty(); });
  row.layouts.resize(row.launches.size());  // without bursts are only the last ones
  return !row.launches.empty() || row.status != RowStatus::ok;
}

nlohmann::json to_json(const Speed& speed) {
  return {{"one_cpu_gflops", speed.one}, {"all_cpus_gflops", speed.all}};
}

nlohmann::json block_to_json(const Disturbance& seen, int repeats) {
  return {{"repeats", repeats},
          {"foreign_cpus", seen.foreign_cpus},
          {"stolen_cpus", seen.stolen_cpus},
          {"throttled", seen.throttled},
          {"probe", to_json(seen.speed)},
          {"disturbed", seen.reason.empty() ? nlohmann::json() : nlohmann::json(seen.reason)}};
}

}  // namespace

Session::Session(const MeasureOptions& options, Interrupt& interrupt)
    : options_(options),
      contenders_(read_contenders(options.manifests)),
      interrupt_(interrupt),
      bench_(plan_of(options), interrupt) {}

void Session::measure(Scenario& scenario, const std::vector<Block>& blocks) {
  if (!options_.no_probe && !watch_) watch_.emplace(contenders_, plan(), interrupt_);
  find_variables(scenario, blocks);
  Progress progress(static_cast<int>(blocks.size()) * plan().launches);
  for (const Block& block : blocks) {
    std::vector<Row> rows = rows_of(scenario, block);
    try {
      measure_block(scenario, block, rows, progress);
    } catch (const Interrupted&) {
      interrupted_ = true;
      std::erase_if(rows, [](Row& row) { return !has_anything(row); });
      keep(scenario, rows, nullptr);
      throw;
    }
  }
}

void Session::keep(const Scenario& scenario, const std::vector<Row>& rows, nlohmann::json block) {
  for (const Row& row : rows) {
    rows_.push_back(row_to_json(scenario, row, plan().seed));
    rows_.back().update(details_of(row));
    rows_.back()["block"] = blocks_.size();
  }
  blocks_.push_back(std::move(block));
}

std::vector<Row> Session::rows_of(Scenario& scenario, const Block& block) {
  std::vector<Row> rows;
  for (const auto& [contender, cell] : block) {
    rows.push_back({contender,
                    cell,
                    scenario.problem(cell),
                    variables_[scenario.name()],
                    RowStatus::ok,
                    {},
                    {}});
  }
  return rows;
}

void Session::measure_block(Scenario& scenario, const Block& block, std::vector<Row>& rows,
                            Progress& progress) {
  if (watch_) {
    watch_block(scenario, block, rows, progress);
    return;
  }
  bench_.measure(rows, progress);
  calibrate(scenario.calibrations(), rows);
  keep(scenario, rows, nullptr);
}

// Repeats are for a disturbance that passes: where block after block stays disturbed, they would
// only take time.
void Session::watch_block(Scenario& scenario, const Block& block, std::vector<Row>& rows,
                          Progress& progress) {
  constexpr int hopeless = 2;
  const int most_repeats = options_.quick || disturbed_in_a_row_ >= hopeless ? 0 : 2;
  for (int repeats = 0;; ++repeats) {
    watch_->begin();
    bench_.measure(rows, progress);
    const Disturbance seen = watch_->end();
    const bool disturbed = !seen.reason.empty();
    if (disturbed && repeats < most_repeats) {
      rows = rows_of(scenario, block);
      continue;
    }
    disturbed_in_a_row_ = disturbed ? disturbed_in_a_row_ + 1 : 0;
    for (Row& row : rows) {
      if (row.status != RowStatus::ok || !disturbed) continue;
      row.status = RowStatus::noisy;
      row.reason = seen.reason;
    }
    calibrate(scenario.calibrations(), rows);
    keep(scenario, rows, block_to_json(seen, repeats));
    return;
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
  nlohmann::json around = environment(options_.command_line, plan().seed, all);
  around["floor"] = watch_ ? nlohmann::json(watch_->floor()) : nlohmann::json();
  around["probe"] = watch_ ? to_json(watch_->usual()) : nlohmann::json();
  nlohmann::json result = result_file(std::move(around), rows_, std::move(articles));
  result["blocks"] = blocks_;
  result["interrupted"] = interrupted_;
  return result;
}

bool Session::broken() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const nlohmann::json& row) {
    return row.at("status") == "wrong" || row.at("status") == "failed";
  });
}

}  // namespace handoff::lab

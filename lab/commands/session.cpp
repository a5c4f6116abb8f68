// SPDX-License-Identifier: MIT
#include "commands/session.hpp"
#include "harness/build_tree.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

Plan plan_of(const MeasureOptions& options) {
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
    throw UserError("--launches takes 1 to {}, not {}", most_launches, plan.launches);
  }
  if (options.time_budget_s) {
    const double seconds = *options.time_budget_s;
    if (!(seconds > 0 && seconds <= most_seconds)) {
      throw UserError("--time-budget takes seconds above 0 and up to {}, not {}", most_seconds,
                      seconds);
    }
    plan.budget = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
    // A launch that is given less than a burst takes has one burst, as long as it is given.
    plan.burst = std::min(plan.burst, plan.budget / plan.launches);
  }
  if (options.burst) plan.burst = *options.burst;
  plan.seed = options.seed ? *options.seed : std::random_device{}();
  return plan;
}

// Whether a block that may have been cut short has something to say about this contender.
bool has_anything(Measurement& measurement) {
  auto& launches = measurement.launches;
  std::erase_if(launches, [](const auto& bursts) { return bursts.empty(); });
  measurement.layouts.resize(launches.size());  // without bursts are only the last ones
  return !launches.empty() || measurement.status != RowStatus::ok;
}

}  // namespace

Session::Session(const MeasureOptions& options, Interrupt& interrupt)
    : options_(options),
      contenders_(read_contenders(options.manifests)),
      interrupt_(interrupt),
      bench_(plan_of(options), interrupt) {}

const Contender& Session::contender_named(const Scenario& scenario, const std::string& name) const {
  std::vector<std::string> names;
  for (const Contender& contender : contenders_) {
    if (contender.scenario != scenario.name()) continue;
    if (contender.name == name) return contender;
    names.push_back(contender.name);
  }
  throw UserError("scenario '{}' has no contender '{}'; {}", scenario.name(), name,
                  nearest_name(name, names));
}

void Session::measure(Scenario& scenario, const std::vector<Block>& blocks,
                      const std::function<void()>& after_block) {
  prepare(scenario, blocks);
  Progress progress(static_cast<int>(blocks.size()) * plan().launches);
  for (const Block& block : blocks) {
    std::vector<Measurement> measurements = measurements_of(scenario, block);
    try {
      const auto report = bench_.measure(measurements, scenario.calibrations(), progress);
      append_block(result_, scenario, measurements, report, plan().seed);
    } catch (const Interrupted&) {
      end_early();
      finish(scenario, measurements, {});
      throw;
    }
    if (after_block) after_block();
  }
}

std::vector<Contender> Session::started_by(const std::vector<Block>& blocks) const {
  std::vector<Contender> all;
  for (const Block& block : blocks) {
    for (const Entry& entry : block) all.push_back(entry.contender);
  }
  for (const Contender& contender : contenders_) {
    if (contender.scenario == "probe" && !options_.no_probe) all.push_back(contender);
  }
  return all;
}

void Session::build(const std::vector<Block>& blocks) {
  build_missing(started_by(blocks), interrupt_);
}

void Session::print_targets(const std::vector<Block>& blocks) const {
  for (const std::string& target : targets_of(started_by(blocks))) fmt::print("{}\n", target);
}

void Session::prepare(Scenario& scenario, const std::vector<Block>& blocks) {
  build(blocks);
  if (!options_.no_probe) bench_.watch(contenders_, interrupt_, !options_.quick);
  find_variables(scenario, blocks);
}

void Session::finish(const Scenario& scenario, std::vector<Measurement>& measurements,
                     const std::optional<BlockReport>& report) {
  std::erase_if(measurements, [](Measurement& one) { return !has_anything(one); });
  append_block(result_, scenario, measurements, report, plan().seed);
}

std::vector<Measurement> Session::measurements_of(Scenario& scenario, const Block& block) {
  std::vector<Measurement> measurements;
  for (const auto& [contender, cell] : block) {
    measurements.push_back({contender, cell, scenario.problem(cell), variables_[scenario.name()]});
  }
  return measurements;
}

// Once for all of a scenario's measurements: they must not differ in this.
void Session::find_variables(Scenario& scenario, const std::vector<Block>& blocks) {
  if (variables_.contains(scenario.name())) return;
  std::vector<Cell> cells;
  for (const Block& block : blocks) {
    for (const Entry& entry : block) cells.push_back(entry.cell);
  }
  variables_[scenario.name()] = scenario.variables(cells, contenders_, bench_.bench());
}

void Session::take_up(Result earlier) {
  const auto blocks_before = static_cast<std::int64_t>(result_.blocks.size());
  for (Row& row : earlier.rows) {
    if (row.block) *row.block += blocks_before;
    result_.rows.push_back(std::move(row));
  }
  result_.blocks.insert(result_.blocks.end(), earlier.blocks.begin(), earlier.blocks.end());
}

Result Session::result() const {
  std::vector<Variable> all;
  for (const auto& [scenario, variables] : variables_) {
    all.insert(all.end(), variables.begin(), variables.end());
  }
  Result result = result_;
  result.environment = Environment::here(options_.command_line, plan().seed, all);
  const std::optional<Watch>& watch = bench_.watched();
  result.environment.add_watch(watch ? std::optional(watch->floor()) : std::nullopt,
                               watch ? std::optional(watch->usual()) : std::nullopt);
  std::map<std::string, std::string> versions;
  for (const Contender& contender : contenders_) {
    if (contender.kind() == "peer" && !contender.version.empty()) {
      versions[contender.name] = contender.package + ' ' + contender.version;
    }
  }
  result.environment.add_peers(versions);
  return result;
}

bool Session::broken() const {
  return std::ranges::any_of(rows(), [](const Row& row) { return is_broken(row.status); });
}

std::vector<Contender> contenders_of(const std::string& scenario,
                                     const std::vector<Contender>& contenders) {
  std::vector<Contender> its_own;
  for (const Contender& contender : contenders) {
    if (contender.scenario == scenario) its_own.push_back(contender);
  }
  return its_own;
}

Session::Block block_of(const std::vector<Contender>& contenders, const Cell& cell) {
  Session::Block block;
  for (const Contender& contender : contenders) {
    if (contender.applies(cell)) block.push_back({contender, cell});
  }
  return block;
}

namespace {

std::vector<std::string> between_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace

Scenario::Values values_of(const std::vector<std::string>& settings) {
  Scenario::Values values;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UserError("--set takes PARAMETER=VALUE,..., not '{}'", setting);
    }
    values.emplace_back(setting.substr(0, equals), between_commas(setting.substr(equals + 1)));
  }
  return values;
}

}  // namespace handoff::lab

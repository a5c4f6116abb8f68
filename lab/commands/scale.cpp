// SPDX-License-Identifier: MIT
// `handoff scale`: how a loop of RankTeam would do on machines that are not there.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/quantities.hpp"
#include "report/columns.hpp"
#include "report/json.hpp"
#include "report/scale_model.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

constexpr double least_efficiency = 0.5;  // what is worth its ranks

// What is predicted of so many ranks.
struct Step {
  ScaleSetup setup;
  ScalePrediction two_levels;
  ScalePrediction one_counter;  // each thread claims from the world
};
using Steps = std::vector<Step>;

// The loop as it was measured: of the most rows, on the fewest ranks.
void take_measured(const std::filesystem::path& path, ScaleSetup& setup) {
  const Result result = read_result(path);
  say_if_interrupted(result, path);
  double fewest = HUGE_VAL;
  setup.rows = 0;
  for (const Row& row : result.rows) {
    const auto rows = value_named(row.parameters, "n").whole().value_or(0);
    const double ranks = value_named(row.parameters, "width").number();
    if (row.scenario != "matmul" || row.contender != "own.rank_team") continue;
    if (!(row.wall_ns_per_op > 0 && ranks > 0) || rows < setup.rows) continue;
    if (rows == setup.rows && ranks >= fewest) continue;
    fewest = ranks;
    setup.rows = rows;
    setup.row_ns = row.wall_ns_per_op * ranks / static_cast<double>(rows);
    setup.row_bytes = sizeof(float) * static_cast<double>(rows);
  }
  if (setup.rows != 0) return;
  throw UserError(
      "{} has no measured row of own.rank_team in matmul; `handoff run "
      "matmul --contenders own.rank_team --output FILE` measures some",
      path.string());
}

ScaleSetup setup_of(const ScaleOptions& options) {
  constexpr std::uint64_t most_ranks = 4096;
  ScaleSetup setup = options.setup;
  if (!options.measured.empty()) take_measured(options.measured, setup);
  static_cast<void>(whole_of("--ranks", setup.ranks, most_ranks));
  static_cast<void>(whole_of("--ranks-a-node", setup.ranks_a_node, most_ranks));
  static_cast<void>(whole_of("--threads", setup.threads, 64));
  static_cast<void>(whole_of("--rows", setup.rows, 1'000'000'000));
  return setup;
}

// 2, 4, 8 and so on, and at last the ranks that were asked for.
Steps steps_of(const ScaleSetup& asked) {
  Steps steps;
  for (std::uint64_t ranks = std::min<std::uint64_t>(2, asked.ranks);;
       ranks = std::min(2 * ranks, asked.ranks)) {
    ScaleSetup setup = asked;
    setup.ranks = ranks;
    ScaleSetup flat = setup;
    if (asked.block == 0) {
      setup.block = block_to_take(setup, predict);
      flat.block = block_to_take(flat, predict_one_counter);
    }
    steps.push_back({setup, predict(setup), predict_one_counter(flat)});
    if (ranks == asked.ranks) return steps;
  }
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

const char* limit_of(const ScalePrediction& at) {
  constexpr double busy = 0.5;
  if (at.link_busy > busy && at.link_busy >= at.counter_busy) return "rank 0 gathers no faster";
  return at.counter_busy > busy ? "the world's counter is busy" : "the rows are too few";
}

std::string counter_text(const Steps& steps) {
  constexpr double as_good = 1.1;
  const auto stops = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.one_counter.ns > as_good * step.two_levels.ns;
  });
  if (stops == steps.end()) return "a single counter for all would do as well";
  return fmt::format("a single counter for all stops at {} ({:.2f} times as long)",
                     stops->setup.ranks, stops->one_counter.ns / stops->two_levels.ns);
}

// What to do.
std::string sentence_of(const Steps& steps) {
  const auto fits = [](const Step& step) { return step.two_levels.efficiency >= least_efficiency; };
  const auto taken = std::find_if(steps.rbegin(), steps.rend(), fits);
  const Step& last = steps.back();
  const std::string at_last =
      fmt::format("{}: {}, as {}", last.setup.ranks, percent(last.two_levels.efficiency),
                  limit_of(last.two_levels));
  if (taken == steps.rend()) {
    return fmt::format(
        "Stay with one machine: ranks would work less than half of their time ({}).\n", at_last);
  }
  return fmt::format("Take {} ranks with .block = {}: {}, {} of their time is work{}; {}.\n",
                     taken->setup.ranks, taken->setup.block, short_duration(taken->two_levels.ns),
                     percent(taken->two_levels.efficiency),
                     &*taken == &last ? "" : fmt::format(" ({})", at_last), counter_text(steps));
}

std::string table_of(const Steps& steps) {
  Columns columns;
  columns.add({"ranks", "nodes", "block", "time", "efficiency", "one counter", "claims", "blocks",
               "messages"});
  for (const auto& [setup, predicted, one_counter] : steps) {
    columns.add({fmt::format("{}", setup.ranks), fmt::format("{}", setup.nodes()),
                 fmt::format("{}", setup.block), short_duration(predicted.ns),
                 percent(predicted.efficiency), percent(one_counter.efficiency),
                 fmt::format("{}", predicted.claims), fmt::format("{}", predicted.blocks),
                 fmt::format("{}", predicted.messages)});
  }
  return columns.text();
}

Row row_of(const ScaleSetup& setup, const ScalePrediction& predicted, const char* contender) {
  Row row;
  row.scenario = "scale";
  row.contender = contender;
  row.kind = "own";
  row.parameters["ranks"] = ParameterValue::of(setup.ranks);
  row.metric = "efficiency";
  row.unit = "% predicted";
  row.higher_is_better = true;
  row.median = 100 * predicted.efficiency;
  row.launches = {{row.median}};
  row.wall_ns_per_op = predicted.ns;
  row.figures = {{"smallest", static_cast<double>(setup.block)},
                 {"claims", static_cast<double>(predicted.claims)},
                 {"blocks", static_cast<double>(predicted.blocks)},
                 {"messages", static_cast<double>(predicted.messages)}};
  return row;
}

// For the report, which draws a line for each contender.
Result result_of(const Steps& steps, const ScaleOptions& options) {
  Result result;
  result.environment = Environment::here(options.command_line, options.setup.seed, {});
  for (const auto& [setup, predicted, one_counter] : steps) {
    result.rows.push_back(row_of(setup, predicted, "own.rank_team"));
    result.rows.push_back(row_of(setup, one_counter, "own.rank_team.one_counter"));
  }
  return result;
}

}  // namespace

int scale(const ScaleOptions& options) {
  require_output(options.output, {options.measured});
  const Steps steps = steps_of(setup_of(options));
  keep_and_show(
      [&] {
        if (!options.output.empty()) {
          write_text(options.output, to_json_text(result_of(steps, options)));
        }
      },
      [&] { write_text({}, sentence_of(steps) + "\n" + table_of(steps)); });
  return exit_code::ok;
}

}  // namespace handoff::lab

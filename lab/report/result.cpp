// SPDX-License-Identifier: MIT
#include "report/result.hpp"
#include "report/efficiency_curve.hpp"
#include "report/ladder.hpp"
#include "report/view.hpp"

namespace handoff::lab {

void append_block(Result& result, const Scenario& scenario, const std::vector<Measurement>& block,
                  const std::optional<BlockReport>& report, std::uint64_t seed) {
  const std::size_t before = result.rows.size();
  for (const Measurement& measurement : block) {
    result.rows.push_back(finished_row(scenario, measurement, seed));
    result.rows.back().block = static_cast<std::int64_t>(result.blocks.size());
  }
  mark_impossible(std::span(result.rows).subspan(before));
  result.blocks.push_back(report);
}

ArticleTable table_of(const Scenario& scenario, const Article& article) {
  return {scenario.name(),
          article.title,
          article.cell.metric(),
          parameters_of(scenario, article.cell),
          article.metric_ms > 0 ? article.metric_ms : NAN,
          article.items > 0 ? article.items : NAN,
          article.rows};
}

std::optional<JudgedChange> judge_rows(const Row& now, const Row& before, double floor) {
  const bool disturbed = now.status == RowStatus::noisy || before.status == RowStatus::noisy;
  return judge_launches(
      now.launches, before.launches,
      {.higher_is_better = now.higher_is_better, .floor = floor, .disturbed = disturbed});
}

std::optional<JudgedChange> judge_launches(const Launches& now, const Launches& before,
                                           const Judging& judging) {
  const auto is_told = [](const Times& bursts) { return !bursts.empty() && can_divide(bursts); };
  for (const Launches* launches : {&now, &before}) {
    if (launches->empty() || !std::ranges::all_of(*launches, is_told)) return {};
  }
  return judge_change(now, before, judging);
}

namespace {

using PlaceOfRow = std::tuple<std::string, std::string, ParameterValues>;

PlaceOfRow place_of(const Row& row) { return {row.scenario, row.metric, row.parameters}; }

// Whether one thread did there what the others did on several. Ways to sort are no such: one thread
// that sorts by digits is faster than many that compare.
bool is_serial(const Row& row) {
  if (row.scenario == "algorithms") return false;
  return row.contender == "limit.serial" || row.contender == "own.serial";
}

bool tells_a_time(const Row& row) {
  return row.unit == "ns" || row.unit == "us" || row.unit == "ms";
}

std::string fault_of_curve(const Row& row) {
  const auto curve = row.curves.find("efficiency");
  if (curve == row.curves.end()) return {};
  const auto point = EfficiencyCurve(curve->second).impossible_point();
  if (!point) return {};
  return fmt::format("its efficiency is {:.2f} at {}", point->second, short_duration(point->first));
}

// Of a single launch nobody knows the range.
std::string fault_beside(const Row& serial, const Row& row) {
  const double width = value_named(row.parameters, "width").number();
  if (!(row.high * width < serial.low)) return {};
  return fmt::format("it is {:.2f} times as fast as one thread", serial.median / row.median);
}

void take_figures(Row& row, const std::string& fault) {
  Row marked;
  marked.scenario = row.scenario;
  marked.contender = row.contender;
  marked.kind = row.kind;
  marked.order = row.order;
  marked.parameters = row.parameters;
  marked.metric = row.metric;
  marked.unit = row.unit;
  marked.higher_is_better = row.higher_is_better;
  marked.block = row.block;
  marked.status = RowStatus::impossible;
  marked.reason = fault + ", more than the CPUs can do";
  row = std::move(marked);
}

}  // namespace

void mark_impossible(std::span<Row> rows) {
  std::map<PlaceOfRow, const Row*> serial;
  for (const Row& row : rows) {
    if (is_serial(row) && row.is_measured() && tells_a_time(row)) serial[place_of(row)] = &row;
  }
  for (Row& row : rows) {
    std::string fault = fault_of_curve(row);
    const auto alone = serial.find(place_of(row));
    if (fault.empty() && alone != serial.end()) fault = fault_beside(*alone->second, row);
    if (!fault.empty()) take_figures(row, fault);
  }
}

}  // namespace handoff::lab

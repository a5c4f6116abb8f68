// SPDX-License-Identifier: MIT
#include "report/json.hpp"

#include <fstream>

#include <fmt/format.h>

#include "harness/statistics.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

const char* name_of(RowStatus status) {
  switch (status) {
    case RowStatus::ok:
      return "ok";
    case RowStatus::wrong:
      return "wrong";
    case RowStatus::failed:
      return "failed";
    case RowStatus::unavailable:
      break;
  }
  return "unavailable";
}

json parameters_of(const Scenario& scenario, const Cell& cell) {
  json parameters = json::object();
  for (const auto& [name, value] : cell) {
    const bool number = scenario.parameter(name).words.empty();
    parameters[name] = number ? json(cell.number(name)) : json(value);
  }
  return parameters;
}

}  // namespace

json row_to_json(const Scenario& scenario, const Row& row, std::uint64_t seed) {
  json result{{"scenario", scenario.name()},
              {"contender", row.contender.name},
              {"kind", row.contender.kind()},
              {"parameters", parameters_of(scenario, row.cell)},
              {"metric", scenario.metric()},
              {"unit", scenario.unit()},
              {"better", scenario.higher_is_better() ? "higher" : "lower"},
              {"status", name_of(row.status)},
              {"reason", row.reason},
              {"samples", json::array()},
              {"launches", json::array()}};
  for (const char* figure : {"median", "low", "high", "wall_ns_per_op", "cpu_ns_per_op"}) {
    result[figure] = nullptr;
  }
  if (row.status != RowStatus::ok) return result;
  const Launches launches = metric_of(row);
  for (const auto& bursts : launches) {
    for (const double value : bursts) result["samples"].push_back(value);
  }
  const Interval bounds = interval(resample(launches, seed));
  result["launches"] = launches;
  result["median"] = typical(launches);
  result["low"] = bounds.low;
  result["high"] = bounds.high;
  result["wall_ns_per_op"] =
      typical(values_of(row, [](const Reading& r) { return r.wall_ns / r.operations; }));
  result["cpu_ns_per_op"] =
      typical(values_of(row, [](const Reading& r) { return r.cpu_ns / r.operations; }));
  return result;
}

json article_to_json(const Scenario& scenario, const Article& article) {
  json rows = json::array();
  for (const ArticleRow& row : article.rows) {
    rows.push_back({{"scheme", row.scheme},
                    {"milliseconds", row.milliseconds},
                    {"note", row.note},
                    {"contender", row.contender}});
  }
  return {{"scenario", scenario.name()},
          {"title", article.title},
          {"parameters", parameters_of(scenario, article.cell)},
          {"rows", rows}};
}

json result_file(json environment, json rows, json articles) {
  return {{"schema", 1},
          {"environment", std::move(environment)},
          {"rows", std::move(rows)},
          {"articles", std::move(articles)}};
}

std::string to_text(const json& result) {
  return result.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

json read_result(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw UserError(fmt::format("{}: cannot be read", path.string()));
  const json result = json::parse(file, nullptr, false);
  if (!result.is_object() || result.value("schema", 0) != 1 || !result.contains("rows")) {
    throw UserError(fmt::format("{}: no result file of schema 1", path.string()));
  }
  return result;
}

}  // namespace handoff::lab

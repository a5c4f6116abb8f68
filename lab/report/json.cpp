// SPDX-License-Identifier: MIT
#include "report/json.hpp"

#include <map>
#include <numeric>

#include <fmt/format.h>

#include "harness/statistics.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

const char* name_of(RowStatus status) {
  switch (status) {
    case RowStatus::ok: return "ok";
    case RowStatus::noisy: return "noisy";
    case RowStatus::uncalibrated: return "uncalibrated";
    case RowStatus::wrong: return "wrong";
    case RowStatus::failed: return "failed";
    case RowStatus::unavailable: break;
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

// What each member did of all the items, the submitter first: medians over the bursts that say it.
json shares_of(const Row& row) {
  std::vector<std::vector<double>> shares;  // member by member
  for (const auto& bursts : row.launches) {
    for (const Reading& reading : bursts) {
      const double all = std::accumulate(reading.executed.begin(), reading.executed.end(), 0.0);
      if (!(all > 0)) continue;
      if (shares.size() < reading.executed.size()) shares.resize(reading.executed.size());
      for (std::size_t i = 0; i < reading.executed.size(); ++i) {
        shares[i].push_back(reading.executed[i] / all);
      }
    }
  }
  json medians = json::array();
  for (auto& values : shares) medians.push_back(median(std::move(values)));
  return medians;
}

// Figures by their median over all bursts that have them, curves from the last burst.
void add_what_else_was_reported(const Row& row, json& result) {
  std::map<std::string, std::vector<double>> figures;
  std::vector<double> shares;
  json curves = json::object();
  for (const auto& bursts : row.launches) {
    for (const Reading& reading : bursts) {
      for (const auto& [name, value] : reading.figures) figures[name].push_back(value);
      for (const auto& [name, points] : reading.curves) curves[name] = points;
      if (const auto share = reading.share_elsewhere()) shares.push_back(*share);
    }
  }
  json medians = json::object();
  for (auto& [name, values] : figures) medians[name] = median(std::move(values));
  if (!shares.empty()) result["share_elsewhere"] = median(std::move(shares));
  if (json each = shares_of(row); !each.empty()) result["shares"] = std::move(each);
  result["figures"] = std::move(medians);
  result["curves"] = std::move(curves);
}

}  // namespace

json row_to_json(const Scenario& scenario, const Row& row, std::uint64_t seed) {
  const Metric& metric = scenario.metric(row.cell.metric());
  json result{{"scenario", scenario.name()},
              {"contender", row.contender.name},
              {"kind", row.contender.kind()},
              {"parameters", parameters_of(scenario, row.cell)},
              {"metric", metric.name},
              {"unit", metric.unit},
              {"better", metric.higher_is_better ? "higher" : "lower"},
              {"status", name_of(row.status)},
              {"reason", row.reason},
              {"samples", json::array()},
              {"launches", json::array()}};
  for (const char* figure : {"median", "low", "high", "wall_ns_per_op", "cpu_ns_per_op",
                             "items_per_op", "share_elsewhere"}) {
    result[figure] = nullptr;
  }
  if (row.launches.empty()) return result;
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
  result["items_per_op"] =
      typical(values_of(row, [](const Reading& r) { return r.items / r.operations; }));
  add_what_else_was_reported(row, result);
  return result;
}

json article_to_json(const Scenario& scenario, const Article& article) {
  json rows = json::array();
  for (const ArticleRow& row : article.rows) {
    rows.push_back({{"scheme", row.scheme},
                    {"milliseconds", row.milliseconds},
                    {"note", row.note},
                    {"why", row.why},
                    {"contender", row.contender}});
    if (!row.metric.empty()) rows.back()["metric"] = row.metric;
  }
  json made{{"scenario", scenario.name()},
            {"title", article.title},
            {"metric", article.cell.metric()},
            {"parameters", parameters_of(scenario, article.cell)},
            {"rows", rows}};
  if (article.metric_ms > 0) made["metric_ms"] = article.metric_ms;
  if (article.items > 0) made["items"] = article.items;
  return made;
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

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "commands/figures.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "harness/nearest_name.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// One [[figure]] table, read key by key; every mistake names the line of the file.
class FigureReader {
 public:
  FigureReader(const std::filesystem::path& path, const toml::table& table)
      : path_(path), table_(table) {}

  Figure read(const Scenarios& scenarios) {
    require_known_keys();
    Figure figure;
    figure.name = text("name");
    figure.scenario = &scenario_named(scenarios, text("scenario"));
    figure.metric = &metric_of(*figure.scenario);
    const bool alone = table_.contains("value");
    if (alone == table_.contains("ratio")) refuse("needs either ratio or value");
    if (alone && (table_.contains("against") || table_.contains("against_parameters"))) {
      refuse("has a value, which is set against nothing");
    }
    if (alone) {
      one_of("value", {figure.metric->name});
    } else {
      figure.in_time = one_of("ratio", {"time", figure.metric->name}) == "time";
    }
    figure.at_most = table_.contains("at_most");
    if (figure.at_most == table_.contains("at_least")) refuse("needs either at_most or at_least");
    figure.bound = number(figure.at_most ? "at_most" : "at_least");
    if (table_.contains("mean")) figure.geometric_mean = one_of("mean", {"geometric"}) != "";
    const std::string contender = text("contender");
    std::vector<std::string> against;
    if (!alone) against = {contender};
    if (table_.contains("against")) against = texts(*table_.get("against"));
    for (const Cell& cell : figure.scenario->cells(values("parameters"), {figure.metric->name})) {
      Cell other = cell;
      for (const auto& [name, chosen] : values("against_parameters")) {
        if (chosen.size() != 1) refuse("takes one value for each of against_parameters");
        const Parameter& parameter = figure.scenario->parameter(name);
        parameter.require_allowed(chosen.front());
        if (!parameter.belongs_to(figure.metric->name)) {
          refuse(
              fmt::format("has metric {}, which has no parameter '{}'", figure.metric->name, name));
        }
        other.set(name, chosen.front());
      }
      figure.comparisons.push_back({contender, cell, against, other});
    }
    return figure;
  }

 private:
  const Metric& metric_of(const Scenario& scenario) const {
    const std::vector<Metric>& metrics = scenario.metrics();
    if (!table_.contains("metric") && metrics.size() == 1) return metrics.front();
    std::vector<std::string> names;
    for (const Metric& metric : metrics) names.push_back(metric.name);
    return scenario.metric(one_of("metric", names));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(
        fmt::format("{}:{}: this figure {}", path_.string(), table_.source().begin.line, why));
  }

  void require_known_keys() const {
    const std::vector<std::string> known{"name",       "scenario", "metric", "contender",
                                         "against",    "ratio",    "mean",   "at_most",
                                         "parameters", "at_least", "value",  "against_parameters"};
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        refuse(fmt::format("has an unknown key '{}'; {}", name, nearest_name(name, known)));
      }
    }
  }

  std::string text(const char* key) const {
    const auto value = table_[key].value<std::string>();
    if (!value) refuse(fmt::format("needs a text for '{}'", key));
    return *value;
  }

  double number(const char* key) const {
    const auto value = table_[key].value<double>();
    if (!value) refuse(fmt::format("needs a number for '{}'", key));
    return *value;
  }

  std::string one_of(const char* key, const std::vector<std::string>& allowed) const {
    std::string value = text(key);
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      refuse(fmt::format("has {} = '{}'; {}", key, value, nearest_name(value, allowed)));
    }
    return value;
  }

  // A text or a whole number, or a list of them.
  std::vector<std::string> texts(const toml::node& node) const {
    std::vector<std::string> all;
    const auto add = [&](const toml::node& element) {
      if (const auto* text = element.as_string()) {
        all.push_back(text->get());
      } else if (const auto* number = element.as_integer()) {
        all.push_back(std::to_string(number->get()));
      } else {
        refuse("has a value that is neither a text nor a whole number");
      }
    };
    if (const auto* list = node.as_array()) {
      for (const toml::node& element : *list) add(element);
    } else {
      add(node);
    }
    return all;
  }

  Scenario::Values values(const char* key) const {
    Scenario::Values values;
    const toml::table* given = table_[key].as_table();
    if (given == nullptr) return values;
    for (const auto& [name, value] : *given) values.emplace_back(name.str(), texts(value));
    return values;
  }

  const std::filesystem::path& path_;
  const toml::table& table_;
};

bool same_cell(const json& parameters, const Cell& cell) {
  return std::all_of(cell.begin(), cell.end(), [&](const auto& entry) {
    const json value = parameters.value(entry.first, json());
    return (value.is_string() ? value.get<std::string>() : value.dump()) == entry.second;
  });
}

// Thrown by `measured`: why a figure has no value.
struct Unmeasured {
  Verdict verdict;  // noisy or unmeasured
  std::string reason;
};

// All rows of a contender in a cell, of which none may be without figures. What was measured on a
// disturbed machine does not count; where there is nothing else, nothing can be told.
std::vector<const json*> measured(const json& rows, const Scenario& scenario,
                                  const std::string& contender, const Cell& cell) {
  std::vector<const json*> found;
  std::string noise;
  for (const json& row : rows) {
    if (row.at("scenario") != scenario.name() || row.at("contender") != contender ||
        row.at("metric") != cell.metric() || !same_cell(row.at("parameters"), cell)) {
      continue;
    }
    if (row.at("status") == "ok") {
      found.push_back(&row);
      continue;
    }
    const std::string status = row.at("status");
    const std::string reason =
        fmt::format("{}: {}: {}", contender, status, row.at("reason").get<std::string>());
    if (status != "noisy") throw Unmeasured{Verdict::unmeasured, reason};
    noise = reason;
  }
  if (found.empty() && !noise.empty()) throw Unmeasured{Verdict::noisy, noise};
  if (found.empty()) {
    throw Unmeasured{Verdict::unmeasured, fmt::format("no row of {}: {} with {}", contender,
                                                      cell.metric(), cell.text())};
  }
  return found;
}

struct Pair {
  Launches own;
  Launches other;
};

// What both sides measured. Rows of one block ran in the same rounds, so they are paired; only
// where the two sides never met in a block is all that each has taken.
Pair pair_up(const std::vector<const json*>& own, const std::vector<const json*>& other) {
  const auto met_in = [](const json& row, const std::vector<const json*>& others) {
    return std::any_of(others.begin(), others.end(), [&](const json* candidate) {
      return row.contains("block") && candidate->value("block", json()) == row.at("block");
    });
  };
  const bool met =
      std::any_of(own.begin(), own.end(), [&](const json* row) { return met_in(*row, other); });
  const auto launches_of = [&](const std::vector<const json*>& rows,
                               const std::vector<const json*>& others) {
    Launches all;
    for (const json* row : rows) {
      if (met && !met_in(*row, others)) continue;
      for (const json& bursts : row->at("launches")) all.push_back(bursts);
    }
    return all;
  };
  return {launches_of(own, other), launches_of(other, own)};
}

bool all_above_0(const Launches& launches) {
  return std::all_of(launches.begin(), launches.end(), [](const auto& bursts) {
    return std::all_of(bursts.begin(), bursts.end(), [](double value) { return value > 0; });
  });
}

// Burst by burst, what is measured.
Launches values_of(const Figure& figure, const Comparison& comparison, const json& rows) {
  const auto own = measured(rows, *figure.scenario, comparison.contender, comparison.cell);
  Launches all;
  for (const json* row : own) {
    for (const json& bursts : row->at("launches")) all.push_back(bursts);
  }
  return all;
}

// Burst by burst, the ratio as the figure states it.
Launches ratios_of(const Figure& figure, const Comparison& comparison, const json& rows) {
  const Scenario& scenario = *figure.scenario;
  const auto own = measured(rows, scenario, comparison.contender, comparison.cell);
  std::optional<Pair> hardest;
  for (const std::string& name : comparison.against) {
    Pair pair = pair_up(own, measured(rows, scenario, name, comparison.against_cell));
    const bool harder = !hardest || (typical(pair.other) > typical(hardest->other)) ==
                                        figure.metric->higher_is_better;
    if (harder) hardest = std::move(pair);
  }
  // More of a metric that is better when higher is less time for the same work.
  const bool inverse = figure.in_time && figure.metric->higher_is_better;
  for (const Launches& side : {hardest->own, hardest->other}) {
    if (!all_above_0(side)) throw Unmeasured{Verdict::unmeasured, "values of 0 have no ratio"};
  }
  return inverse ? ratio(hardest->other, hardest->own) : ratio(hardest->own, hardest->other);
}

// Values of 0 have no ratios to agree on.
Agreement agreed_on(const Launches& figures, std::uint64_t seed) {
  if (all_above_0(figures)) return agreement(figures, seed);
  return {typical(figures), resample(figures, seed)};
}

Judged verdict_on(const Figure& figure, std::string what, double value,
                  const std::vector<double>& draws) {
  const auto within = [&](double ratio) {
    return figure.at_most ? ratio <= figure.bound : ratio >= figure.bound;
  };
  Judged judged{Verdict::noisy, std::move(what), value, interval(draws), {}};
  if (within(judged.bounds.low) && within(judged.bounds.high)) judged.verdict = Verdict::holds;
  if (!within(judged.bounds.low) && !within(judged.bounds.high)) {
    judged.verdict = Verdict::falls_short;
  }
  return judged;
}

}  // namespace

std::string Comparison::text() const {
  std::string text = contender;
  if (!cell.text().empty()) text += " with " + cell.text();
  if (against.empty()) return text;
  const bool alone = against.size() == 1;
  if (!alone || against.front() != contender) {
    text += fmt::format(" against {}{}", alone ? "" : "the better of ", fmt::join(against, ", "));
  }
  if (!(cell == against_cell)) text += fmt::format(" against {}", against_cell.text());
  return text;
}

std::vector<Figure> read_figures(const std::filesystem::path& path, const Scenarios& scenarios) {
  if (!std::ifstream(path)) throw UserError(fmt::format("{}: cannot be read", path.string()));
  toml::table file;
  try {
    file = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw UserError(fmt::format("{}:{}: {}", path.string(), line, error.description()));
  }
  const toml::array* tables = file["figure"].as_array();
  if (tables == nullptr || !tables->is_array_of_tables()) {
    throw UserError(fmt::format("{}: it has no [[figure]]", path.string()));
  }
  std::vector<Figure> figures;
  for (const toml::node& table : *tables) {
    figures.push_back(FigureReader(path, *table.as_table()).read(scenarios));
  }
  return figures;
}

std::vector<Judged> judge(const Figure& figure, const json& rows, std::uint64_t seed) {
  std::vector<Judged> verdicts;
  std::vector<std::vector<double>> values;  // of one draw each, for their mean
  std::vector<std::vector<double>> draws;
  for (const Comparison& comparison : figure.comparisons) {
    try {
      const bool alone = comparison.against.empty();
      const Launches figures =
          alone ? values_of(figure, comparison, rows) : ratios_of(figure, comparison, rows);
      Agreement agreed = agreed_on(figures, seed + draws.size());
      values.push_back({agreed.value});
      draws.push_back(std::move(agreed.draws));
      verdicts.push_back(
          verdict_on(figure, comparison.text(), values.back().front(), draws.back()));
    } catch (const Unmeasured& unmeasured) {
      verdicts.push_back({unmeasured.verdict, comparison.text(), 0, {}, unmeasured.reason});
      if (figure.geometric_mean) return {verdicts.back()};
    }
  }
  if (!figure.geometric_mean) return verdicts;
  const std::string what = fmt::format("geometric mean of {} cells", draws.size());
  return {verdict_on(figure, what, geometric_mean(values).front(), geometric_mean(draws))};
}

}  // namespace handoff::lab

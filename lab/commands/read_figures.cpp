// SPDX-License-Identifier: MIT
// Reads figures that must hold from TOML.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "commands/figures.hpp"
#include "harness/nearest_name.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

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

}  // namespace

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

}  // namespace handoff::lab

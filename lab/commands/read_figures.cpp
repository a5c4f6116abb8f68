// SPDX-License-Identifier: MIT
// Reads figures that must hold, and cells of the guard, from TOML.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "commands/figures.hpp"
#include "commands/guard.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

// A table of a file, read key by key; every mistake names the line of the file.
class TableReader {
 public:
  TableReader(const std::filesystem::path& path, const char* kind, const toml::table& table)
      : path_(path), kind_(kind), table_(table) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError("{}:{}: this {} {}", path_.string(), table_.source().begin.line, kind_, why);
  }

  void require_known_keys(const std::vector<std::string>& known) const {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (!contains(known, name)) {
        refuse(fmt::format("has an unknown key '{}'; {}", name, nearest_name(name, known)));
      }
    }
  }

  bool has(const char* key) const { return table_.contains(key); }

  const Metric& metric_of(const Scenario& scenario) const {
    const std::vector<Metric>& metrics = scenario.metrics();
    if (!has("metric") && metrics.size() == 1) return metrics.front();
    std::vector<std::string> names;
    for (const Metric& metric : metrics) names.push_back(metric.name);
    return scenario.metric(one_of("metric", names));
  }

  std::string text(const char* key) const { return needed<std::string>(key, "text"); }
  double number(const char* key) const { return needed<double>(key, "number"); }

  std::string one_of(const char* key, const std::vector<std::string>& allowed) const {
    std::string value = text(key);
    if (!contains(allowed, value)) {
      refuse(fmt::format("has {} = '{}'; {}", key, value, nearest_name(value, allowed)));
    }
    return value;
  }

  std::vector<std::string> texts(const char* key) const { return texts(*table_.get(key)); }

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

 private:
  template <class Value>
  Value needed(const char* key, const char* what) const {
    const auto value = table_[key].value<Value>();
    if (!value) refuse(fmt::format("needs a {} for '{}'", what, key));
    return *value;
  }

  const std::filesystem::path& path_;
  const char* kind_;
  const toml::table& table_;
};

Figure figure_in(const TableReader& table, const Scenarios& scenarios) {
  table.require_known_keys({"name", "scenario", "metric", "contender", "against", "ratio", "mean",
                            "at_most", "parameters", "at_least", "value", "against_parameters"});
  Figure figure;
  figure.name = table.text("name");
  figure.scenario = &scenario_named(scenarios, table.text("scenario"));
  figure.metric = &table.metric_of(*figure.scenario);
  const bool alone = table.has("value");
  if (alone == table.has("ratio")) table.refuse("needs either ratio or value");
  if (alone && (table.has("against") || table.has("against_parameters"))) {
    table.refuse("has a value, so it takes no against");
  }
  if (alone) {
    table.one_of("value", {figure.metric->name});
  } else {
    figure.in_time = table.one_of("ratio", {"time", figure.metric->name}) == "time";
  }
  figure.at_most = table.has("at_most");
  if (figure.at_most == table.has("at_least")) table.refuse("needs either at_most or at_least");
  figure.bound = table.number(figure.at_most ? "at_most" : "at_least");
  if (table.has("mean")) figure.geometric_mean = table.one_of("mean", {"geometric"}) != "";
  const std::string contender = table.text("contender");
  std::vector<std::string> against;
  if (!alone) against = {contender};
  if (table.has("against")) against = table.texts("against");
  for (const Cell& cell :
       figure.scenario->cells(table.values("parameters"), {figure.metric->name})) {
    Cell other = cell;
    for (const auto& [name, chosen] : table.values("against_parameters")) {
      if (chosen.size() != 1) table.refuse("takes one value for each of against_parameters");
      const Parameter& parameter = figure.scenario->parameter(name);
      parameter.require_allowed(chosen.front());
      if (!parameter.belongs_to(figure.metric->name)) {
        table.refuse(
            fmt::format("has metric {}, which has no parameter '{}'", figure.metric->name, name));
      }
      other.set(name, chosen.front());
    }
    figure.comparisons.push_back({contender, cell, against, other});
  }
  return figure;
}

GuardedCell guarded_cell_in(const TableReader& table, const Scenarios& scenarios) {
  table.require_known_keys({"name", "scenario", "metric", "contender", "parameters"});
  Scenario& scenario = scenario_named(scenarios, table.text("scenario"));
  const Metric& metric = table.metric_of(scenario);
  const std::vector<Cell> cells = scenario.cells(table.values("parameters"), {metric.name});
  if (cells.size() != 1) table.refuse(fmt::format("is {} cells", cells.size()));
  return {table.text("name"), &scenario, table.text("contender"), cells.front()};
}

// All tables of that name, of which there must be one.
template <typename Read>
void each_table(const std::filesystem::path& path, const char* name, Read read) {
  if (!std::ifstream(path)) throw UserError("{}: cannot be read", path.string());
  toml::table file;
  try {
    file = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw UserError("{}:{}: {}", path.string(), line, error.description());
  }
  const toml::array* tables = file[name].as_array();
  if (tables == nullptr || !tables->is_array_of_tables()) {
    throw UserError("{}: it has no [[{}]]", path.string(), name);
  }
  for (const toml::node& table : *tables) read(TableReader(path, name, *table.as_table()));
}

}  // namespace

std::vector<Figure> read_figures(const std::filesystem::path& path, const Scenarios& scenarios) {
  std::vector<Figure> figures;
  each_table(path, "figure",
             [&](const TableReader& table) { figures.push_back(figure_in(table, scenarios)); });
  return figures;
}

std::vector<GuardedCell> read_guarded_cells(const std::filesystem::path& path,
                                            const Scenarios& scenarios) {
  std::vector<GuardedCell> cells;
  each_table(path, "cell", [&](const TableReader& table) {
    cells.push_back(guarded_cell_in(table, scenarios));
    const std::string& name = cells.back().name;
    if (std::ranges::count(cells, name, &GuardedCell::name) > 1)
      table.refuse(fmt::format("has the name of another one, '{}'", name));
    if (cells.size() > kMostGuardedCells) {
      table.refuse(fmt::format("is one too many: there is time for {}", kMostGuardedCells));
    }
  });
  return cells;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "report/exports.hpp"

#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

json context_of(const json& environment) {
  json caches = json::array();
  const json cpu = environment.value("cpu", json::object());
  const json known = cpu.is_object() ? cpu.value("caches", json::array()) : json::array();
  for (const json& cache : known) {
    caches.push_back({{"type", "Unified"},
                      {"level", cache.value("level", 0)},
                      {"size", cache.value("bytes", 0)},
                      {"num_sharing", 0}});
  }
  return {{"date", text_of(environment, "date")},
          {"executable", "handoff"},
          {"num_cpus", environment.value("/budget/width"_json_pointer, 0)},
          {"mhz_per_cpu", 0},
          {"cpu_scaling_enabled", false},
          {"caches", caches},
          {"load_avg", environment.value("load_average", json::array())},
          {"library_version", environment.value("/handoff/version"_json_pointer, "")},
          {"library_build_type", "release"},
          {"json_schema_version", 1}};
}

std::string benchmark_name(const json& row) {
  std::string name = fmt::format("{}/{}", text_of(row, "scenario"), text_of(row, "metric"));
  for (const auto& [parameter, value] : row.at("parameters").items()) {
    name += fmt::format("/{}:{}", parameter,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return name + '/' + text_of(row, "contender");
}

// Times are those of one operation; the metric is a counter, as it need not be a time.
json benchmark_of(const json& row) {
  const std::string name = benchmark_name(row);
  json benchmark{{"name", name},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", 1},
                 {"threads", 1},
                 {"repetition_index", 0},
                 {"iterations", row.at("launches").size()}};
  if (!is_measured(row)) {
    benchmark["error_occurred"] = true;
    benchmark["error_message"] =
        fmt::format("{}: {}", text_of(row, "status"), text_of(row, "reason"));
    return benchmark;
  }
  benchmark["real_time"] = row.value("wall_ns_per_op", json());
  benchmark["cpu_time"] = row.value("cpu_ns_per_op", json());
  benchmark["time_unit"] = "ns";
  benchmark[text_of(row, "metric")] = row.at("median");
  benchmark["low"] = row.value("low", json());
  benchmark["high"] = row.value("high", json());
  const json figures = row.value("figures", json::object());
  for (const auto& [key, value] : figures.items()) benchmark.emplace(key, value);
  return benchmark;
}

std::string google_benchmark(const json& result) {
  json benchmarks = json::array();
  for (const json& row : result.at("rows")) benchmarks.push_back(benchmark_of(row));
  const json whole{{"context", context_of(result.at("environment"))}, {"benchmarks", benchmarks}};
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

// Numbers shortest and exact, with a point whatever the locale; absent ones are empty.
std::string csv_field(const json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

std::vector<std::string> keys_in(const json& rows, const char* object) {
  std::set<std::string> keys;
  for (const json& row : rows) {
    const json inner = row.value(object, json::object());
    for (const auto& [key, value] : inner.items()) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

std::string csv(const json& result) {
  constexpr std::array texts{"scenario", "contender", "kind",   "metric",
                             "unit",     "better",    "status", "reason"};
  constexpr std::array figures{"median",        "low",          "high",           "wall_ns_per_op",
                               "cpu_ns_per_op", "items_per_op", "share_elsewhere"};
  const json& rows = result.at("rows");
  const std::vector<std::string> parameters = keys_in(rows, "parameters");
  const std::vector<std::string> reported = keys_in(rows, "figures");
  std::string text;
  bool first = true;
  const auto add = [&](const json& field) {
    text += (first ? "" : ",") + csv_field(field);
    first = false;
  };
  for (const char* key : texts) add(key);
  for (const std::string& key : parameters) add("parameter." + key);
  for (const char* key : figures) add(key);
  add("launches");
  for (const std::string& key : reported) add("figure." + key);
  for (const json& row : rows) {
    text += '\n';
    first = true;
    for (const char* key : texts) add(row.at(key));
    for (const std::string& key : parameters) add(row.at("parameters").value(key, json()));
    for (const char* key : figures) add(row.value(key, json()));
    add(row.at("launches").size());
    for (const std::string& key : reported) {
      add(row.value("figures", json::object()).value(key, json()));
    }
  }
  return text + '\n';
}

std::string markdown_field(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '<') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string markdown_row(const CellView& cell, const json& row) {
  const std::string contender = markdown_field(text_of(row, "contender"));
  if (!is_measured(row)) {
    return fmt::format("| {} | | | | {}: {} |\n", contender, text_of(row, "status"),
                       markdown_field(text_of(row, "reason")));
  }
  const std::string times =
      row.at("kind") == "limit" ? "limit" : short_number(cell.times_best(row));
  const std::string remark =
      row.at("status") == "ok"
          ? ""
          : fmt::format("{}: {}", text_of(row, "status"), markdown_field(text_of(row, "reason")));
  return fmt::format("| {} | {} | {} .. {} | {} | {} |\n", contender,
                     short_number(figure_of(row, "median")), short_number(figure_of(row, "low")),
                     short_number(figure_of(row, "high")), times, remark);
}

std::string markdown(const json& result) {
  std::string text;
  for (const CellView& cell : cells_of({&result})) {
    text +=
        fmt::format("{}### {} {}: {}\n\n", text.empty() ? "" : "\n", markdown_field(cell.scenario),
                    markdown_field(cell.metric), markdown_field(cell.parameters));
    text += fmt::format("| contender | {}, {} is better | 99 % interval | times best | remark |\n",
                        markdown_field(cell.unit), cell.higher_is_better ? "higher" : "lower");
    text += "|---|---:|---:|---:|---|\n";
    for (const json* row : cell.rows) text += markdown_row(cell, *row);
  }
  return text;
}

}  // namespace

const std::array<Export, 3>& all_exports() {
  static constexpr std::array<Export, 3> exports{
      {{"google-benchmark", google_benchmark}, {"csv", csv}, {"markdown", markdown}}};
  return exports;
}

}  // namespace handoff::lab

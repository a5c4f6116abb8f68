// SPDX-License-Identifier: MIT
#include "report/exports.hpp"

#include <nlohmann/json.hpp>

#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

json context_of(const Environment& environment) {
  json caches = json::array();
  for (const Cache& cache : environment.caches()) {
    caches.push_back(
        {{"type", "Unified"}, {"level", cache.level}, {"size", cache.bytes}, {"num_sharing", 0}});
  }
  return {{"date", environment.date()},
          {"executable", "handoff"},
          {"num_cpus", environment.width()},
          {"mhz_per_cpu", 0},
          {"cpu_scaling_enabled", false},
          {"caches", caches},
          {"load_avg", environment.load_average()},
          {"library_version", environment.version()},
          {"library_build_type", "release"},
          {"json_schema_version", 1}};
}

std::string benchmark_name(const Row& row) {
  std::string name = fmt::format("{}/{}", row.scenario, row.metric);
  for (const auto& [parameter, value] : row.parameters) {
    name += fmt::format("/{}:{}", parameter, value.text);
  }
  return name + '/' + row.contender;
}

// Times are those of one operation; the metric is a counter, as it need not be a time.
json benchmark_of(const Row& row) {
  const std::string name = benchmark_name(row);
  json benchmark{{"name", name},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", 1},
                 {"threads", 1},
                 {"repetition_index", 0},
                 {"iterations", row.launches.size()}};
  if (!row.is_measured()) {
    benchmark.update({{"error_occurred", true}, {"error_message", row.state()}});
    return benchmark;
  }
  benchmark.update({{"real_time", row.wall_ns_per_op},
                    {"cpu_time", row.cpu_ns_per_op},
                    {"time_unit", "ns"},
                    {row.metric, row.median}});
  benchmark.update({{"low", row.low}, {"high", row.high}});
  for (const auto& [key, value] : row.figures) benchmark.emplace(key, value);
  return benchmark;
}

std::string google_benchmark(const Result& result) {
  json benchmarks = json::array();
  for (const Row& row : result.rows) benchmarks.push_back(benchmark_of(row));
  const json whole{{"context", context_of(result.environment)}, {"benchmarks", benchmarks}};
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

// A line of fields (RFC 4180).
class CsvLine {
 public:
  void add(const std::string& text) {
    next();
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
      line_ += text;
      return;
    }
    line_ += '"';
    for (const char c : text) {
      line_ += c;
      if (c == '"') line_ += c;
    }
    line_ += '"';
  }
  // Shortest and exact, with a point whatever the locale; empty where it is not known.
  void add(double figure) {
    next();
    if (!std::isnan(figure)) line_ += json(figure).dump();
  }
  [[nodiscard]] const std::string& text() const { return line_; }

 private:
  void next() {
    if (!first_) line_ += ',';
    first_ = false;
  }

  std::string line_;
  bool first_ = true;
};

struct CsvColumns {
  std::set<std::string> parameters;
  std::set<std::string> figures;  // that contenders reported
};

CsvColumns columns_of(const std::vector<Row>& rows) {
  CsvColumns columns;
  for (const Row& row : rows) {
    for (const auto& [name, value] : row.parameters) columns.parameters.insert(name);
    for (const auto& [name, value] : row.figures) columns.figures.insert(name);
  }
  return columns;
}

std::string csv_titles(const CsvColumns& columns) {
  CsvLine line;
  const auto add = [&](const char* name, const auto&) { line.add(std::string(name)); };
  const Row any;
  for_each_text(any, add);
  for (const char* title : {"better", "status", "reason"}) line.add(std::string(title));
  for (const std::string& name : columns.parameters) line.add("parameter." + name);
  for_each_figure(any, add);
  line.add(std::string("launches"));
  for_each_usage(any.per_item,
                 [&](const char* name, double) { line.add(fmt::format("per_item.{}", name)); });
  for (const std::string& name : columns.figures) line.add("figure." + name);
  return line.text() + '\n';
}

std::string csv_line(const Row& row, const CsvColumns& columns) {
  CsvLine line;
  const auto add = [&](const char*, const auto& field) { line.add(field); };
  for_each_text(row, add);
  line.add(std::string(row.higher_is_better ? "higher" : "lower"));
  line.add(std::string(name_of(row.status)));
  line.add(row.reason);
  for (const std::string& name : columns.parameters) {
    line.add(value_named(row.parameters, name).text);
  }
  for_each_figure(row, add);
  line.add(std::to_string(row.launches.size()));
  for_each_usage(row.per_item, [&](const char*, double figure) { line.add(figure); });
  for (const std::string& name : columns.figures) line.add(figure_named(row.figures, name));
  return line.text() + '\n';
}

std::string csv(const Result& result) {
  const CsvColumns columns = columns_of(result.rows);
  std::string text = csv_titles(columns);
  for (const Row& row : result.rows) text += csv_line(row, columns);
  return text;
}

std::string markdown_field(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '<') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string markdown_row(const CellView& cell, const Row& row) {
  const std::string contender = markdown_field(row.contender);
  const std::string state = fmt::format("{}: {}", name_of(row.status), markdown_field(row.reason));
  if (!row.is_measured()) return fmt::format("| {} | | | | {} |\n", contender, state);
  std::string text = fmt::format("| {}", contender);
  for (const ShownFigure& shown : figures_of(cell, row)) text += " | " + shown.text;
  return fmt::format("{} | {} |\n", text, row.status == RowStatus::ok ? "" : state);
}

std::string markdown(const Result& result) {
  std::string text;
  for (const CellView& cell : cells_of({&result})) {
    text +=
        fmt::format("{}### {} {}: {}\n\n", text.empty() ? "" : "\n", markdown_field(cell.scenario),
                    markdown_field(cell.metric), markdown_field(cell.parameters));
    text += fmt::format("| contender | {}, {} is better | 99 % interval | times best | remark |\n",
                        markdown_field(cell.unit), cell.higher_is_better ? "higher" : "lower");
    text += "|---|---:|---:|---:|---|\n";
    for (const Row* row : cell.rows) text += markdown_row(cell, *row);
  }
  return text;
}

}  // namespace

const std::array<Export, 4>& all_exports() {
  static constexpr std::array<Export, 4> exports{{{"google-benchmark", google_benchmark},
                                                  {"csv", csv},
                                                  {"markdown", markdown},
                                                  {"ladder", ladder_markdown}}};
  return exports;
}

}  // namespace handoff::lab

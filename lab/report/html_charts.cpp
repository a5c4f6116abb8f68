// SPDX-License-Identifier: MIT
// The page's charts of lines: how a metric scales with a parameter, and the curves that rows carry.
#include "report/html_parts.hpp"
#include "report/line_chart.hpp"

namespace handoff::lab {
namespace {

struct Titled {
  std::string title;
  std::string subtitle;
  bool with_points;  // a table of its own, where no other table has the figures
  LineChart chart;
};

constexpr const char* efficiency = "efficiency";  // from 0 to 1, whatever it spans

bool spans_decades(const LineChart& chart, bool x, double factor) {
  double least = HUGE_VAL;
  double most = 0;
  for (const Line& line : chart.lines) {
    for (const auto& point : line.points) {
      least = std::min(least, x ? point.first : point.second);
      most = std::max(most, x ? point.first : point.second);
    }
  }
  return least > 0 && most > factor * least;
}

void choose_scales(LineChart& chart) {
  constexpr double wide = 3.5;
  constexpr double very_wide = 30;
  if (chart.x != Scale::nines && spans_decades(chart, true, wide)) chart.x = Scale::log;
  if (chart.y_label != efficiency && spans_decades(chart, false, very_wide)) chart.y = Scale::log;
}

Line& line_of(LineChart& chart, const std::string& contender, const MergedScenario& scenario) {
  for (Line& line : chart.lines) {
    if (line.name == contender) return line;
  }
  chart.lines.push_back({contender, scenario.styles.at(contender), {}});
  return chart.lines.back();
}

// The cells of one machine that differ in this parameter alone, by what they share.
using Family = std::vector<const CellView*>;

std::map<std::string, Family> families(const std::vector<const CellView*>& cells,
                                       const std::string& parameter) {
  std::map<std::string, Family> found;
  for (const CellView* cell : cells) {
    ParameterValues others = cell->rows.front()->parameters;
    if (!value_named(others, parameter).is_number) continue;
    others.erase(parameter);
    const std::string rest = text_of(others);
    found[cell->metric + (rest.empty() ? "" : ": " + rest)].push_back(cell);
  }
  return found;
}

// What it would be if twice the members made it twice as fast, from the best at the least width.
Line perfect_scaling(const LineChart& chart, bool higher_is_better) {
  double first = HUGE_VAL;
  double last = 0;
  for (const Line& line : chart.lines) {
    for (const auto& point : line.points) {
      first = std::min(first, point.first);
      last = std::max(last, point.first);
    }
  }
  double best = NAN;
  for (const Line& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      if (x == first) best = higher_is_better ? std::fmax(best, y) : std::fmin(best, y);
    }
  }
  Line line{"perfect", 0, {}};
  double highest = 0;  // the line ends where it would shrink all others
  for (const Line& other : chart.lines) {
    for (const auto& point : other.points) highest = std::max(highest, point.second);
  }
  constexpr int steps = 24;
  for (int i = 0; i <= steps; ++i) {
    const double x = first * std::pow(last / first, static_cast<double>(i) / steps);
    const double y = higher_is_better ? best * x / first : best * first / x;
    if (y <= 1.25 * highest) line.points.emplace_back(x, y);
  }
  return line;
}

std::vector<Titled> scaling(const MergedScenario& scenario,
                            const std::vector<const CellView*>& cells) {
  constexpr std::size_t least_points = 3;
  std::set<std::string> parameters;
  for (const CellView* cell : cells) {
    for (const auto& [name, value] : cell->rows.front()->parameters) {
      parameters.insert(name);
    }
  }
  std::vector<Titled> charts;
  for (const std::string& parameter : parameters) {
    for (const auto& [title, family] : families(cells, parameter)) {
      if (family.size() < least_points) continue;
      Titled titled{title, "", false, {}};
      LineChart& chart = titled.chart;
      for (const CellView* cell : family) {
        for (const Row* row : cell->rows) {
          if (!row->is_measured() || row->is_limit()) continue;
          const double x = value_named(row->parameters, parameter).number();
          line_of(chart, row->contender, scenario).points.emplace_back(x, row->median);
        }
      }
      const CellView& first = *family.front();
      chart.x_label = parameter;
      chart.y_label = first.unit;
      titled.subtitle = fmt::format("{} against {}, {} is better", first.unit, parameter,
                                    first.higher_is_better ? "higher" : "lower");
      choose_scales(chart);
      if (parameter == "width" && !chart.lines.empty()) {
        chart.perfect = perfect_scaling(chart, first.higher_is_better);
        titled.subtitle += "; dashed: perfect scaling";
      }
      charts.push_back(std::move(titled));
    }
  }
  return charts;
}

// Figures named p50, p99, p99.9 are a curve too.
Points percentile_figures(const Row& row) {
  Points points;
  for (const auto& [name, value] : row.figures) {
    if (name.size() < 2 || name[0] != 'p' || std::isnan(value)) continue;
    char* end = nullptr;
    const double percent = std::strtod(name.c_str() + 1, &end);
    if (*end == '\0') points.emplace_back(percent, value);
  }
  return points.size() >= 3 ? points : Points();
}

// What the row carries, and its latencies as one more curve.
std::map<std::string, Points> curves_of(const Row& row) {
  std::map<std::string, Points> curves = row.curves;
  if (row.latency) curves["percentiles"] = row.latency->percentiles;
  curves.try_emplace("percentiles", percentile_figures(row));
  return curves;
}

void label(Titled& titled, const std::string& curve, const CellView& cell) {
  LineChart& chart = titled.chart;
  if (curve.starts_with("percentile")) {
    chart.x = Scale::nines;
    chart.x_label = "percentile";
    const bool latency = cell.rows.front()->latency.has_value();
    chart.y_label = latency ? "latency, ns" : cell.unit;
    titled.subtitle = fmt::format("{} by percentile", chart.y_label);
  } else if (curve.starts_with(efficiency)) {
    chart.x_label = "size of a task, ns";
    chart.y_label = efficiency;
    titled.subtitle = "share of full efficiency against the size of a task";
  } else {
    chart.x_label = "x";
    chart.y_label = curve;
    titled.subtitle = curve;
  }
}

std::vector<Titled> curves(const MergedScenario& scenario, const CellView& cell) {
  std::map<std::string, Titled> by_name;
  for (const Row* row : cell.rows) {
    if (!row->is_measured()) continue;
    for (const auto& [name, points] : curves_of(*row)) {
      if (points.empty()) continue;
      auto [found, is_new] = by_name.try_emplace(name, Titled{title_of(cell), "", true, {}});
      if (is_new) label(found->second, name, cell);
      Line& line = line_of(found->second.chart, row->contender, scenario);
      line.points.insert(line.points.end(), points.begin(), points.end());
    }
  }
  std::vector<Titled> charts;
  for (auto& [name, titled] : by_name) {
    choose_scales(titled.chart);
    charts.push_back(std::move(titled));
  }
  return charts;
}

Data points_of(const LineChart& chart) {
  std::map<double, std::vector<double>> table;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    for (const auto& [x, y] : chart.lines[i].points) {
      table.try_emplace(x, chart.lines.size(), NAN).first->second[i] = y;
    }
  }
  Data rows{Data::type::list};
  for (const auto& [x, ys] : table) {
    rows.push_back(object({{"x", fmt::format("{:g}", x)}, {"ys", data_list(ys, short_number)}}));
  }
  return rows;
}

Data drawn(Titled titled, const std::string& machine) {
  const LineChart chart = cleaned(std::move(titled.chart));
  if (!machine.empty()) titled.subtitle += "; " + machine;
  Data legend{Data::type::list};
  for (const Line& line : chart.lines) {
    legend.push_back(
        object({{"mark", legend_mark(line.style)},
                {"name", line.name},
                {"reaches", std::isnan(line.reaches) ? "" : short_duration(line.reaches)}}));
  }
  Data data =
      object({{"title", titled.title},
              {"subtitle", titled.subtitle},
              {"x_label", chart.x_label},
              {"y_label", chart.y_label},
              {"svg", svg_of(chart, fmt::format("{}, {}, a line for each contender; {} the figures",
                                                titled.title, titled.subtitle,
                                                titled.with_points ? "the table below has"
                                                                   : "the tables above have"))},
              {"legend", legend},
              {"has_points", titled.with_points}});
  if (titled.with_points) data.set("points", points_of(chart));
  return data;
}

// The rows about tasks at the greatest width: the cells' own order has the best first.
const CellView* cell_of_tasks(const MergedScenario& scenario, std::size_t machine) {
  const CellView* found = nullptr;
  double widest = -1;
  for (const MergedCell& cell : scenario.cells) {
    const CellView& view = cell.machines[machine];
    if (view.metric != "metg50" || view.rows.empty()) continue;
    const ParameterValues& parameters = view.rows.front()->parameters;
    if (value_named(parameters, "unit").text != "task") continue;
    const double width = std::fmax(0, value_named(parameters, "width").number());
    if (width > widest) found = &view;
    widest = std::max(widest, width);
  }
  return found;
}

}  // namespace

Data efficiency_chart(const std::vector<MergedScenario>& scenarios,
                      const std::vector<MachineView>& machines, std::size_t machine) {
  Data list{Data::type::list};
  for (const MergedScenario& scenario : scenarios) {
    const CellView* const cell =
        scenario.name == "grain" ? cell_of_tasks(scenario, machine) : nullptr;
    if (cell == nullptr) continue;
    Titled titled{title_of(*cell), "", false, {}};
    label(titled, efficiency, *cell);
    for (const Row* row : cell->rows) {
      const auto curve = row->curves.find(efficiency);
      const bool is_way = row->kind == "own" || row->kind == "peer";
      if (!row->is_measured() || !is_way || curve == row->curves.end()) continue;
      Line& line = line_of(titled.chart, row->contender, scenario);
      line.points = curve->second;
      line.reaches = row->median;
    }
    titled.chart.level = 0.5;
    choose_scales(titled.chart);
    if (cleaned(titled.chart).lines.empty()) continue;
    list.push_back(drawn(std::move(titled),
                         machines.size() > 1 ? fmt::format("machine {}", machine + 1) : ""));
  }
  return list;
}

Data line_charts(const MergedScenario& scenario, const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  if (machines.size() > most_side_by_side) return list;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    std::vector<const CellView*> cells;
    for (const MergedCell& cell : scenario.cells) {
      if (!cell.machines[m].rows.empty()) cells.push_back(&cell.machines[m]);
    }
    std::vector<Titled> charts = scaling(scenario, cells);
    for (const CellView* cell : cells) {
      for (Titled& titled : curves(scenario, *cell)) charts.push_back(std::move(titled));
    }
    const std::string machine = machines.size() > 1 ? fmt::format("machine {}", m + 1) : "";
    for (Titled& titled : charts) {
      if (cleaned(titled.chart).lines.empty()) continue;
      list.push_back(drawn(std::move(titled), machine));
    }
  }
  return list;
}

}  // namespace handoff::lab

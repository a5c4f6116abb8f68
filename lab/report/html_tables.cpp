// SPDX-License-Identifier: MIT
// The page's tables of figures, each row with its bar or its strip of dots.
#include "report/html_parts.hpp"
#include "report/line_chart.hpp"

namespace handoff::lab {
namespace {

std::string coordinate(double value) { return fmt::format("{:.4g}", value); }

std::vector<const Row*> rows_of(const MergedCell& cell) {
  std::vector<const Row*> rows;
  for (const CellView& machine : cell.machines) {
    rows.insert(rows.end(), machine.rows.begin(), machine.rows.end());
  }
  return rows;
}

// What the longest bar stands for, rounded up. A limit far above all others is drawn beyond the
// scale: it would leave nothing to see of them.
double scale_of(const MergedCell& cell) {
  constexpr double far_above = 2.5;
  double of_all = 0;
  double without_limits = 0;
  for (const Row* row : rows_of(cell)) {
    if (!row->is_measured()) continue;
    const double high = std::fmax(row->median, row->high);
    of_all = std::max(of_all, high);
    if (!row->is_limit()) without_limits = std::max(without_limits, high);
  }
  const bool beyond = without_limits > 0 && of_all > far_above * without_limits;
  const double highest = beyond ? without_limits : of_all;
  const double step = tick_step(highest) / 2;
  return highest > 0 ? std::ceil(highest / step) * step : 1;
}

struct HtmlColumns {
  std::vector<FigureColumn> known;
  std::vector<std::string> reported;  // further figures, by name
};

HtmlColumns columns_of(const std::vector<const Row*>& rows) {
  HtmlColumns columns;
  for (const FigureColumn& column : figure_columns()) {
    if (column.is_known(rows)) columns.known.push_back(column);
  }
  std::set<std::string> names;
  for (const Row* row : rows) {
    for (const auto& [name, value] : row->figures) names.insert(name);
  }
  columns.reported.assign(names.begin(), names.end());
  return columns;
}

Data figures_of(const Row& row, const CellView& cell, const HtmlColumns& columns) {
  Data list = data_list(figures_of(cell, row), figure);
  for (const FigureColumn& column : columns.known) {
    const double value = column.value(row);
    list.push_back(figure({std::isnan(value) ? "-" : column.text(value), value}));
  }
  for (const std::string& name : columns.reported) {
    const double value = figure_named(row.figures, name);
    list.push_back(figure({short_number(value), value}));
  }
  return list;
}

Data measured(const Row& row, const CellView& cell, const HtmlColumns& columns, double highest) {
  const auto at = [&](double value) { return std::clamp(100 * value / highest, 0.0, 100.0); };
  Data data = object({{"bar", coordinate(at(row.median))},
                      {"figures", figures_of(row, cell, columns)},
                      {"beyond", row.median > highest}});
  if (std::isfinite(row.low) && std::isfinite(row.high) && row.median <= highest) {
    Data whisker = object({{"low", coordinate(at(row.low))}, {"high", coordinate(at(row.high))}});
    data.set("whisker", whisker);
  }
  return data;
}

// Of a row that has figures and a reservation.
std::string remark_on(const Row& row) {
  return row.is_measured() && row.status != RowStatus::ok
             ? fmt::format("{} is {}", row.contender, row.state())
             : "";
}

// One contender's way through all machines.
struct Strip {
  std::string contender;
  std::string kind;
  std::string reason;
  std::vector<double> times;  // best first
};

std::vector<Strip> strips_of(const MergedCell& cell) {
  std::vector<Strip> strips;
  for (const CellView& machine : cell.machines) {
    for (const Row* row : machine.rows) {
      auto strip = std::ranges::find(strips, row->contender, &Strip::contender);
      if (strip == strips.end()) {
        strip = strips.insert(strips.end(), {row->contender, row->kind, "", {}});
      }
      const double times = row->is_measured() ? machine.times_best(*row) : NAN;
      if (std::isfinite(times) && times > 0) strip->times.push_back(times);
      if (!row->is_measured()) strip->reason = row->state();
    }
  }
  for (Strip& strip : strips) std::ranges::sort(strip.times);
  const auto rank = [](const Strip& strip) {
    return strip.times.empty() ? HUGE_VAL : strip.times[strip.times.size() / 2];
  };
  std::ranges::stable_sort(strips,
                           [&](const Strip& a, const Strip& b) { return rank(a) < rank(b); });
  return strips;
}

Data strip_row(const Strip& strip, double highest) {
  Data data = object({{"contender", breakable(strip.contender)}, {"kind", strip.kind}});
  if (strip.times.empty()) {
    data.set("reason", strip.reason);
    return data;
  }
  std::string dots;
  for (const double times : strip.times) {
    const double at = 100 * std::log(times) / std::log(highest);
    dots += fmt::format("M{} 8h0", coordinate(std::clamp(at, 0.0, 100.0)));
  }
  Data figures{Data::type::list};
  figures.push_back(
      figure({std::to_string(strip.times.size()), static_cast<double>(strip.times.size())}));
  const std::vector<double>& t = strip.times;
  for (const double value : {t[t.size() / 2], t.front(), t.back()}) {
    figures.push_back(figure({short_number(value), value}));
  }
  Data shown = object({{"dots", dots}, {"figures", figures}});
  data.set("measured", shown);
  return data;
}

// This library's ways come first, so that they have the same colours in all scenarios.
void choose_styles(MergedScenario& scenario) {
  std::set<std::pair<bool, std::string>> names;
  for (const MergedCell& cell : scenario.cells) {
    for (const Row* row : rows_of(cell)) names.emplace(row->kind != "own", row->contender);
  }
  for (const auto& [foreign, name] : names) {
    scenario.styles.emplace(name, static_cast<int>(scenario.styles.size()));
  }
}

}  // namespace

std::string breakable(const std::string& name) {
  std::string text;
  for (const char c : html_escaped(name)) {
    text += c;
    if (c == '.' || c == '_') text += "<wbr>";
  }
  return text;
}

Data figure(const ShownFigure& shown) {
  Data data;
  if (std::isfinite(shown.value)) data.set("v", fmt::format("{:.6g}", shown.value));
  data.set("text", shown.text);
  return data;
}

std::string title_of(const CellView& work) {
  return fmt::format("{}{}{}", work.metric, work.parameters.empty() ? "" : ": ", work.parameters);
}

std::vector<MergedScenario> merged(const std::vector<MachineView>& machines) {
  std::vector<MergedScenario> scenarios;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (CellView& view : cells_of(machines[m].results)) {
      auto scenario = std::ranges::find(scenarios, view.scenario, &MergedScenario::name);
      if (scenario == scenarios.end()) {
        const std::string id = fmt::format("s{}", scenarios.size() + 1);
        scenario = scenarios.insert(scenarios.end(), {view.scenario, id, {}, {}});
      }
      auto& cells = scenario->cells;
      auto cell = std::ranges::find_if(
          cells, [&](const MergedCell& other) { return other.work.same_work(view); });
      if (cell == cells.end()) {
        CellView work = view;
        work.rows.clear();
        const std::string id = fmt::format("{}c{}", scenario->id, cells.size() + 1);
        cell = cells.insert(cells.end(), {work, id, std::vector<CellView>(machines.size(), work)});
      }
      cell->machines[m] = std::move(view);
    }
  }
  for (MergedScenario& scenario : scenarios) choose_styles(scenario);
  return scenarios;
}

Data strip_table(const MergedCell& cell) {
  const std::vector<Strip> strips = strips_of(cell);
  double highest = 2;
  for (const Strip& strip : strips) {
    if (strip.kind != "limit" && !strip.times.empty()) {
      highest = std::max(highest, strip.times.back());
    }
  }
  return object(
      {{"highest", short_number(highest)},
       {"rows", data_list(strips, [&](const Strip& strip) { return strip_row(strip, highest); })}});
}

Data bar_table(const MergedCell& cell, bool folded) {
  const HtmlColumns columns = columns_of(rows_of(cell));
  const double highest = scale_of(cell);
  Data titles{Data::type::list};
  for (const char* title : {"median", "99 % interval", "times best"}) titles.push_back(title);
  for (const FigureColumn& column : columns.known) titles.push_back(column.title);
  for (const std::string& name : columns.reported) titles.push_back(name);
  const auto span = 4 + columns.known.size() + columns.reported.size();
  Data rows{Data::type::list};
  Data remarks{Data::type::list};
  for (std::size_t m = 0; m < cell.machines.size(); ++m) {
    const CellView& machine = cell.machines[m];
    for (const Row* row : machine.rows) {
      Data data = object({{"contender", breakable(row->contender)},
                          {"kind", row->kind},
                          {"machine", std::to_string(m + 1)},
                          {"span", std::to_string(span)}});
      if (row->is_measured()) {
        data.set("measured", measured(*row, machine, columns, highest));
      } else {
        data.set("reason", row->state());
      }
      rows.push_back(data);
      if (const std::string remark = remark_on(*row); !remark.empty()) remarks.push_back(remark);
    }
    if (const std::string text = machine.kernel_text(); !text.empty()) remarks.push_back(text);
  }
  return object({{"folded", folded},
                 {"highest", fmt::format("{:g}", highest)},
                 {"columns", titles},
                 {"rows", rows},
                 {"remarks", remarks}});
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "report/view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace handoff::lab {
namespace {

using nlohmann::json;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

CellView cell_of(const json& row) {
  return {text_of(row, "scenario"), parameters_text(row),         text_of(row, "metric"),
          text_of(row, "unit"),     row.at("better") == "higher", {}};
}

bool better_first(const CellView& cell, const json* a, const json* b) {
  const auto rank = [&](const json* row) {
    const double median = figure_of(*row, "median");
    const double key = std::isnan(median)      ? std::numeric_limits<double>::infinity()
                       : cell.higher_is_better ? -median
                                               : median;
    return std::tuple(key, text_of(*row, "contender"));
  };
  return rank(a) < rank(b);
}

// What makes a machine this one, as far as a result file tells.
json identity_of(const json& result) {
  const json& environment = result.at("environment");
  return {environment.value("cpu", json()), environment.value("/budget/width"_json_pointer, json()),
          environment.value("memory_bytes", json()), environment.value("kernel", json())};
}

std::set<std::string> row_names(const json& result) {
  std::set<std::string> names;
  for (const json& row : result.at("rows")) {
    names.insert(fmt::format("{} {} {} {}", text_of(row, "scenario"), text_of(row, "metric"),
                             parameters_text(row), text_of(row, "contender")));
  }
  return names;
}

bool repeats_a_row(const MachineView& machine, const json& result) {
  const std::set<std::string> names = row_names(result);
  return std::any_of(machine.results.begin(), machine.results.end(), [&](const json* other) {
    const std::set<std::string> others = row_names(*other);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return others.contains(name); });
  });
}

std::string name_of_machine(const json& result) {
  const json& environment = result.at("environment");
  const json model = environment.value("/cpu/model"_json_pointer, json());
  std::string name = model.is_string() ? model.get<std::string>() : "unknown processor";
  for (const std::string_view noise : {"(R)", "(TM)", " Processor", " CPU", " @"}) {
    if (const auto at = name.find(noise); at != std::string::npos) name.erase(at, noise.size());
  }
  const json width = environment.value("/budget/width"_json_pointer, json());
  if (width.is_number()) name += fmt::format(", {} CPUs", width.dump());
  return name;
}

const json* row_behind(const Results& results, const json& article, const json& line) {
  const json metric = line.value("metric", article.value("metric", json()));
  for (const json* result : results) {
    for (const json& row : result->at("rows")) {
      const bool same_metric = metric.is_null() || row.at("metric") == metric;
      if (same_metric && row.at("scenario") == article.at("scenario") &&
          row.at("contender") == line.at("contender") &&
          row.at("parameters") == article.at("parameters")) {
        return &row;
      }
    }
  }
  return nullptr;
}

// Items that the article's time is for, as one row counts them.
double items_of(const json& article, const json& here) {
  const double told = figure_of(article, "items");
  return std::isnan(told) ? figure_of(here, "items_per_op") : told;
}

// What a row says in ms: a time, or its metric, where an article is about that.
double ms_of(const json& article, const json* here) {
  if (here == nullptr) return unknown;
  const double metric_ms = figure_of(article, "metric_ms");
  if (!std::isnan(metric_ms)) return figure_of(*here, "median") * metric_ms;
  const double operations = items_of(article, *here) / figure_of(*here, "items_per_op");
  return figure_of(*here, "wall_ns_per_op") * (std::isnan(operations) ? 1 : operations) / 1e6;
}

// Where the threads' time went meanwhile.
void add_threads(ArticleLine& line, const json& article, const json& here) {
  if (article.contains("metric_ms") || !here.contains("per_item")) return;
  const json& per_item = here.at("per_item");
  const double ms = items_of(article, here) / 1e6;
  line.on_cpu_ms = {figure_of(per_item, "submitter_on_cpu_ns") * ms,
                    figure_of(per_item, "others_on_cpu_ns") * ms};
  line.off_cpu_ms = {figure_of(per_item, "submitter_off_cpu_ns") * ms,
                     figure_of(per_item, "others_off_cpu_ns") * ms};
}

ArticleLine line_of(const json& article, const json& line, const json* here) {
  const double ms = ms_of(article, here);
  ArticleLine view{line.at("scheme"),
                   line.at("note"),
                   line.at("contender"),
                   line.at("milliseconds"),
                   unknown,
                   ms,
                   unknown,
                   {},
                   "",
                   {},
                   {}};
  if (here != nullptr) add_threads(view, article, *here);
  if (view.contender.empty()) {
    view.why = "no contender re-makes this scheme";
  } else if (here == nullptr) {
    view.why = "not measured in this run";
  } else if (std::isnan(ms)) {
    view.why = fmt::format("{}: {}", text_of(*here, "status"), text_of(*here, "reason"));
  }
  return view;
}

void judge(ArticleLine& line, const ArticleLine& first, const std::string& why) {
  line.article_speedup = first.article_ms / line.article_ms;
  line.here_speedup = first.here_ms / line.here_ms;
  if (&line == &first || !line.why.empty()) return;
  if (std::isnan(line.here_speedup)) {
    line.why = "the first line, against which it is set, was not measured";
    return;
  }
  const double apart = line.here_speedup / line.article_speedup;
  line.reproduced = std::max(apart, 1 / apart) <= reproduced_within;
  if (*line.reproduced) return;
  line.why = fmt::format("{} x there, {} x here", short_number(line.article_speedup),
                         short_number(line.here_speedup));
  if (!why.empty()) line.why += "; " + why;
}

}  // namespace

double figure_of(const json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number() ? found->get<double>() : unknown;
}

std::string text_of(const json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string parameters_text(const json& row) {
  std::string text;
  for (const auto& [name, value] : row.at("parameters").items()) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, shown);
  }
  return text;
}

const json* CellView::best() const {
  const auto found = std::find_if(rows.begin(), rows.end(), [](const json* row) {
    return row->at("kind") != "limit" && is_measured(*row);
  });
  return found == rows.end() ? nullptr : *found;
}

double CellView::times_best(const json& row) const {
  if (best() == nullptr) return unknown;
  const double value = figure_of(row, "median");
  const double least = figure_of(*best(), "median");
  return higher_is_better ? least / value : value / least;
}

bool CellView::same_work(const CellView& other) const {
  return std::tie(scenario, metric, unit, parameters) ==
         std::tie(other.scenario, other.metric, other.unit, other.parameters);
}

std::vector<CellView> cells_of(const Results& results) {
  std::vector<CellView> cells;
  for (const json* result : results) {
    for (const json& row : result->at("rows")) {
      CellView wanted = cell_of(row);
      auto cell = std::find_if(cells.begin(), cells.end(),
                               [&](const CellView& other) { return other.same_work(wanted); });
      if (cell == cells.end()) cell = cells.insert(cells.end(), std::move(wanted));
      cell->rows.push_back(&row);
    }
  }
  for (CellView& cell : cells) {
    std::sort(cell.rows.begin(), cell.rows.end(),
              [&](const json* a, const json* b) { return better_first(cell, a, b); });
  }
  return cells;
}

std::vector<MachineView> machines_of(const Results& results) {
  std::vector<MachineView> machines;
  for (const json* result : results) {
    const auto same = std::find_if(machines.begin(), machines.end(), [&](const MachineView& m) {
      return identity_of(*m.results.front()) == identity_of(*result) && !repeats_a_row(m, *result);
    });
    if (same == machines.end()) {
      machines.push_back({name_of_machine(*result), {result}});
    } else {
      same->results.push_back(result);
    }
  }
  return machines;
}

std::vector<ArticleView> articles_of(const Results& results) {
  std::vector<ArticleView> views;
  for (const json* result : results) {
    for (const json& article : result->value("articles", json::array())) {
      ArticleView view{article.at("scenario"), article.at("title"), parameters_text(article), {}};
      for (const json& line : article.at("rows")) {
        view.lines.push_back(line_of(article, line, row_behind(results, article, line)));
      }
      for (std::size_t i = 0; i < view.lines.size(); ++i) {
        judge(view.lines[i], view.lines.front(), text_of(article.at("rows")[i], "why"));
      }
      const bool measured = std::any_of(view.lines.begin(), view.lines.end(),
                                        [](const auto& line) { return !std::isnan(line.here_ms); });
      if (measured) views.push_back(std::move(view));
    }
  }
  return views;
}

std::string said_of(const ArticleLine& line) {
  if (line.reproduced) return *line.reproduced ? "reproduced" : "not reproduced: " + line.why;
  return line.why.empty() ? "base" : line.why;
}

bool tells_threads(const ArticleView& article) {
  return std::any_of(article.lines.begin(), article.lines.end(),
                     [](const ArticleLine& line) { return !std::isnan(line.on_cpu_ms.submitter); });
}

std::string text_of(const ThreadsMs& threads) {
  if (std::isnan(threads.submitter)) return "-";
  return fmt::format("{} + {}", short_number(threads.submitter), short_number(threads.others));
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double magnitude = value == 0 ? 0 : std::floor(std::log10(std::abs(value)));
  if (magnitude >= 6) {
    const bool mega = magnitude < 9;
    return fmt::format("{:.3g} {}", value / (mega ? 1e6 : 1e9), mega ? 'M' : 'G');
  }
  return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(2 - magnitude, 0.0, 9.0)));
}

std::string short_duration(double ns) {
  if (!std::isfinite(ns)) return "-";
  constexpr std::array<const char*, 4> units{"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && std::abs(ns) >= 999.5; ++unit) ns /= 1e3;
  return fmt::format("{} {}", short_number(ns), units[unit]);
}

}  // namespace handoff::lab

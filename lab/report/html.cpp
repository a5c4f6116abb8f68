// SPDX-License-Identifier: MIT
// Computes what the template (page.mustache) only places: the geometry of the charts, the texts.
#include "report/html.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <kainjow/mustache.hpp>

#include "page_template.hpp"
#include "report/json.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;
using Data = kainjow::mustache::data;

// In units of the chart's own coordinates.
struct Chart {
  static constexpr double labels = 170;
  static constexpr double bars = 460;
  static constexpr double values = 130;
  static constexpr double row = 30;
  static constexpr double bar = 18;
  static constexpr double axis = 34;
};

std::string coordinate(double value) {
  return fmt::format("{:.1f}", value);
}

// What the longest bar stands for. A limit far above all others is drawn beyond the scale: it would
// leave nothing to see of them.
double highest_of(const CellView& cell) {
  constexpr double far_above = 2.5;
  double of_all = 0;
  double without_limits = 0;
  for (const json* row : cell.rows) {
    if (!row->at("high").is_number()) continue;
    const double high = row->at("high");
    of_all = std::max(of_all, high);
    if (row->at("kind") != "limit") without_limits = std::max(without_limits, high);
  }
  return without_limits > 0 && of_all > far_above * without_limits ? without_limits : of_all;
}

// The smallest of 1, 2, 5 times a power of ten that makes at most six steps.
double step_for(double highest) {
  const double magnitude = std::pow(10, std::floor(std::log10(highest)) - 1);
  for (const double factor : {1, 2, 5, 10, 20}) {
    if (highest / (factor * magnitude) <= 6) return factor * magnitude;
  }
  return 50 * magnitude;
}

Data ticks(double highest, double scale, double height) {
  Data list{Data::type::list};
  const double step = step_for(highest);
  for (double value = 0; value <= highest; value += step) {
    Data tick;
    tick.set("x", coordinate(Chart::labels + value * scale));
    tick.set("bottom", coordinate(height - Chart::axis));
    tick.set("label_y", coordinate(height - Chart::axis + 14));
    tick.set("text", fmt::format("{:g}", value));
    list.push_back(tick);
  }
  return list;
}

Data shape_of(double median, double low, double high, double y, double scale) {
  constexpr double rounding = 1e-6;
  const bool beyond = high * scale > Chart::bars + rounding;
  Data shape;
  shape.set("top", coordinate(y + (Chart::row - Chart::bar) / 2));
  shape.set("width", coordinate(beyond ? Chart::bars : median * scale));
  shape.set("value_x", coordinate(Chart::labels + (beyond ? Chart::bars : high * scale) + 8));
  shape.set("text", short_number(median) + (beyond ? ", off the scale" : ""));
  if (beyond) return shape;
  Data whisker;
  whisker.set("middle", coordinate(y + Chart::row / 2));
  whisker.set("top", coordinate(y + Chart::row / 2 - 4));
  whisker.set("bottom", coordinate(y + Chart::row / 2 + 4));
  whisker.set("low", coordinate(Chart::labels + low * scale));
  whisker.set("high", coordinate(Chart::labels + high * scale));
  shape.set("whisker", whisker);
  return shape;
}

Data bar(const json& row, const CellView& cell, double y, double scale) {
  Data bar;
  const std::string kind = row.at("kind");
  bar.set("contender", row.at("contender").get<std::string>());
  bar.set("kind", kind);
  bar.set("text_y", coordinate(y + Chart::row / 2 + 4));
  if (!row.at("median").is_number()) {
    bar.set("reason", fmt::format("{}: {}", row.at("status").get<std::string>(),
                                  row.at("reason").get<std::string>()));
    return bar;
  }
  const double median = row.at("median");
  const double low = row.at("low");
  const double high = row.at("high");
  bar.set("measured", shape_of(median, low, high, y, scale));
  bar.set("median", short_number(median));
  bar.set("low", short_number(low));
  bar.set("high", short_number(high));
  bar.set("times_best", kind == "limit" ? "limit" : short_number(cell.times_best(row)));
  bar.set("wall_ms", short_number(row.at("wall_ns_per_op").get<double>() / 1e6));
  bar.set("cpu_ms", short_number(row.at("cpu_ns_per_op").get<double>() / 1e6));
  return bar;
}

Data chart(const CellView& cell) {
  const double highest = highest_of(cell);
  const double scale = highest > 0 ? Chart::bars / highest : 0;
  const double height = Chart::row * static_cast<double>(cell.rows.size()) + Chart::axis;
  Data bars{Data::type::list};
  double y = 0;
  for (const json* row : cell.rows) {
    bars.push_back(bar(*row, cell, y, scale));
    y += Chart::row;
  }
  Data chart;
  chart.set("scenario", cell.scenario);
  chart.set("parameters", cell.parameters);
  chart.set("metric", cell.metric);
  chart.set("unit", cell.unit);
  chart.set("better", cell.higher_is_better ? "longer bars are better" : "shorter bars are better");
  chart.set("left", coordinate(Chart::labels));
  chart.set("label_x", coordinate(Chart::labels - 8));
  chart.set("axis_x", coordinate(Chart::labels + Chart::bars / 2));
  chart.set("axis_y", coordinate(height - 4));
  chart.set("view_width", coordinate(Chart::labels + Chart::bars + Chart::values));
  chart.set("view_height", coordinate(height));
  chart.set("bars", bars);
  if (highest > 0) chart.set("ticks", ticks(highest, scale, height));
  return chart;
}

Data article(const ArticleView& view) {
  Data lines{Data::type::list};
  for (const ArticleLine& line : view.lines) {
    Data entry;
    entry.set("scheme", line.scheme);
    entry.set("article_ms", short_number(line.article_ms) + (line.note.empty() ? "" : "*"));
    entry.set("article_speedup", short_number(line.article_speedup));
    entry.set("here_ms", short_number(line.here_ms));
    entry.set("here_speedup", short_number(line.here_speedup));
    entry.set("contender", line.contender.empty() ? "-" : line.contender);
    if (!line.note.empty()) entry.set("note", line.note);
    lines.push_back(entry);
  }
  Data article;
  article.set("title", view.title);
  article.set("parameters", view.parameters);
  article.set("lines", lines);
  return article;
}

std::string as_text(const json& value) {
  if (value.is_string()) return value;
  if (value.is_null()) return "none";
  if (value.is_array()) {
    std::string text;
    for (const json& element : value) {
      const std::string inner = as_text(element);
      text += (text.empty() ? "" : ", ") + (element.is_object() ? '(' + inner + ')' : inner);
    }
    return text;
  }
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [name, element] : value.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, as_text(element));
  }
  return text;
}

Data facts(const json& environment) {
  Data list{Data::type::list};
  for (const auto& [name, value] : environment.items()) {
    std::string shown = name;
    std::replace(shown.begin(), shown.end(), '_', ' ');
    Data fact;
    fact.set("name", shown);
    fact.set("value", value.empty() && value.is_structured() ? "none" : as_text(value));
    list.push_back(fact);
  }
  return list;
}

// The result file itself, for other programs; no `</script>` in it can end the element.
std::string embedded(const json& result) {
  std::string text = to_text(result);
  for (auto at = text.find("</"); at != std::string::npos; at = text.find("</", at)) {
    text.replace(at, 2, "<\\/");
  }
  return text;
}

}  // namespace

std::string page(const json& result) {
  Data charts{Data::type::list};
  for (const CellView& cell : cells_of(result)) charts.push_back(chart(cell));
  Data articles{Data::type::list};
  for (const ArticleView& view : articles_of(result)) articles.push_back(article(view));
  const json& environment = result.at("environment");
  Data page;
  page.set("charts", charts);
  page.set("articles", articles);
  page.set("facts", facts(environment));
  page.set("date", as_text(environment.value("date", json())));
  page.set("cpu", as_text(environment.value("/cpu/model"_json_pointer, json())));
  page.set("cpus", as_text(environment.value("/budget/width"_json_pointer, json())));
  page.set("results", embedded(result));
  kainjow::mustache::mustache html{std::string(page_template)};
  return html.render(page);
}

}  // namespace handoff::lab

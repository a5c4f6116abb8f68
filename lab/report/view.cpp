// SPDX-License-Identifier: MIT
#include "report/view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace handoff::lab {
namespace {

using nlohmann::json;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const json& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters.items()) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, shown);
  }
  return text;
}

double number_or_unknown(const json& value) {
  return value.is_number() ? value.get<double>() : unknown;
}

double milliseconds_here(const json& result, const json& article, const std::string& contender) {
  for (const json& row : result.at("rows")) {
    if (row.at("scenario") == article.at("scenario") && row.at("contender") == contender &&
        row.at("parameters") == article.at("parameters")) {
      return number_or_unknown(row.at("wall_ns_per_op")) / 1e6;
    }
  }
  return unknown;
}

}  // namespace

double CellView::best() const {
  for (const json* row : rows) {
    if (row->at("kind") != "limit" && row->at("median").is_number()) return row->at("median");
  }
  return 0;
}

double CellView::times_best(const json& row) const {
  const double value = row.at("median");
  return higher_is_better ? best() / value : value / best();
}

std::vector<CellView> cells_of(const json& result) {
  std::vector<CellView> cells;
  for (const json& row : result.at("rows")) {
    const std::string parameters = text_of(row.at("parameters"));
    const auto same = [&](const CellView& cell) {
      return row.at("scenario") == cell.scenario && cell.parameters == parameters;
    };
    auto cell = std::find_if(cells.begin(), cells.end(), same);
    if (cell == cells.end()) {
      cell = cells.insert(cells.end(), {row.at("scenario"), parameters, row.at("metric"),
                                        row.at("unit"), row.at("better") == "higher", {}});
    }
    cell->rows.push_back(&row);
  }
  for (CellView& cell : cells) {
    const auto rank = [&](const json* row) {
      const std::string contender = row->at("contender");
      const json& median = row->at("median");
      if (!median.is_number()) return std::pair(std::numeric_limits<double>::infinity(), contender);
      return std::pair(median.get<double>() * (cell.higher_is_better ? -1 : 1), contender);
    };
    std::sort(cell.rows.begin(), cell.rows.end(),
              [&](const json* a, const json* b) { return rank(a) < rank(b); });
  }
  return cells;
}

std::vector<ArticleView> articles_of(const json& result) {
  std::vector<ArticleView> views;
  for (const json& article : result.value("articles", json::array())) {
    ArticleView view{article.at("title"), text_of(article.at("parameters")), {}};
    for (const json& row : article.at("rows")) {
      const std::string contender = row.at("contender");
      const double here = milliseconds_here(result, article, contender);
      view.lines.push_back({row.at("scheme"), row.at("note"), contender, row.at("milliseconds"),
                            unknown, here, unknown});
    }
    for (ArticleLine& line : view.lines) {
      line.article_speedup = view.lines.front().article_ms / line.article_ms;
      line.here_speedup = view.lines.front().here_ms / line.here_ms;
    }
    const bool measured = std::any_of(view.lines.begin(), view.lines.end(), [](const auto& line) {
      return !std::isnan(line.here_ms);
    });
    if (measured) views.push_back(std::move(view));
  }
  return views;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  const double magnitude = value == 0 ? 0 : std::floor(std::log10(std::abs(value)));
  return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(2 - magnitude, 0.0, 9.0)));
}

}  // namespace handoff::lab

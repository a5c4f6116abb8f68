// SPDX-License-Identifier: MIT
#include "report/table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// Columns as wide as their widest cell; the first is aligned left, the others right.
class Columns {
 public:
  void add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths_[i] = std::max(widths_[i], cells[i].size());
    }
    rows_.push_back(std::move(cells));
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& cells : rows_) {
      text += fmt::format("  {:<{}}", cells.front(), widths_.front());
      for (std::size_t i = 1; i < cells.size(); ++i) {
        text += fmt::format("  {:>{}}", cells[i], widths_[i]);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string heading(const std::string& text, bool styled) {
  return styled ? fmt::format("\n\033[1m{}\033[0m\n", text) : fmt::format("\n{}\n", text);
}

std::string cell_table(const CellView& cell, bool styled) {
  Columns columns;
  columns.add({"contender", cell.unit, "99 % interval", "times best", "ms", "CPU ms"});
  std::string without_figures;
  for (const json* row : cell.rows) {
    const std::string contender = row->at("contender");
    if (!row->at("median").is_number()) {
      without_figures += fmt::format("  {}: {}: {}\n", contender,
                                     row->at("status").get<std::string>(),
                                     row->at("reason").get<std::string>());
      continue;
    }
    const bool limit = row->at("kind") == "limit";
    columns.add({contender, short_number(row->at("median")),
                 fmt::format("{} .. {}", short_number(row->at("low")),
                             short_number(row->at("high"))),
                 limit ? "limit" : short_number(cell.times_best(*row)),
                 short_number(row->at("wall_ns_per_op").get<double>() / 1e6),
                 short_number(row->at("cpu_ns_per_op").get<double>() / 1e6)});
  }
  const std::string title =
      fmt::format("{} {}  ({}, {} is better)", cell.scenario, cell.parameters, cell.metric,
                  cell.higher_is_better ? "higher" : "lower");
  return heading(title, styled) + columns.text() + without_figures;
}

std::string article_table(const ArticleView& article, bool styled) {
  Columns columns;
  columns.add({"scheme", "article ms", "speed-up", "here ms", "speed-up", "by"});
  std::string notes;
  for (const ArticleLine& line : article.lines) {
    const std::string mark = line.note.empty() ? "" : "*";
    columns.add({line.scheme, short_number(line.article_ms) + mark,
                 short_number(line.article_speedup), short_number(line.here_ms),
                 short_number(line.here_speedup), line.contender.empty() ? "-" : line.contender});
    if (!line.note.empty()) notes += fmt::format("  * {}\n", line.note);
  }
  const std::string title =
      fmt::format("The article beside this machine: {} ({})", article.title, article.parameters);
  return heading(title, styled) + columns.text() + notes;
}

}  // namespace

std::string tables(const json& result, bool styled) {
  std::string text;
  for (const CellView& cell : cells_of(result)) text += cell_table(cell, styled);
  for (const ArticleView& article : articles_of(result)) text += article_table(article, styled);
  return text;
}

}  // namespace handoff::lab

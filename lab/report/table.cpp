// SPDX-License-Identifier: MIT
#include "report/table.hpp"

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// Of one item of work, where an operation did several.
double per_item(const json& row, const char* name) {
  const double items = figure_of(row, "items_per_op");
  return figure_of(row, name) / (items > 0 ? items : 1);
}

std::string cell_table(const CellView& cell, bool styled) {
  Columns columns;
  columns.add({"contender", cell.unit, "99 % interval", "times best", "time each", "CPU each"});
  std::string without_figures;
  for (const json* row : cell.rows) {
    const std::string contender = row->at("contender");
    if (!row->at("median").is_number()) {
      without_figures +=
          fmt::format("  {}: {}: {}\n", contender, row->at("status").get<std::string>(),
                      row->at("reason").get<std::string>());
      continue;
    }
    const bool limit = row->at("kind") == "limit";
    columns.add({contender, short_number(row->at("median")),
                 fmt::format("{} .. {}", short_number(figure_of(*row, "low")),
                             short_number(figure_of(*row, "high"))),
                 limit ? "limit" : short_number(cell.times_best(*row)),
                 short_duration(per_item(*row, "wall_ns_per_op")),
                 short_duration(per_item(*row, "cpu_ns_per_op"))});
  }
  const std::string title = fmt::format("{} {}  ({}, {} is better)", cell.scenario, cell.parameters,
                                        cell.metric, cell.higher_is_better ? "higher" : "lower");
  return heading(title, styled) + columns.text() + without_figures;
}

std::string article_table(const ArticleView& article, bool styled) {
  const bool threads = tells_threads(article);
  Columns columns;
  std::vector<std::string> titles{"scheme", "article ms", "speed-up", "here ms", "speed-up"};
  if (threads) titles.insert(titles.end(), {"on CPU ms", "off CPU ms"});
  titles.insert(titles.end(), {"by", "reproduced"});
  columns.add(std::move(titles));
  std::string notes;
  for (const ArticleLine& line : article.lines) {
    const std::string mark = line.note.empty() ? "" : "*";
    std::vector<std::string> cells{line.scheme, short_number(line.article_ms) + mark,
                                   short_number(line.article_speedup), short_number(line.here_ms),
                                   short_number(line.here_speedup)};
    if (threads) cells.insert(cells.end(), {text_of(line.on_cpu_ms), text_of(line.off_cpu_ms)});
    cells.insert(cells.end(), {line.contender.empty() ? "-" : line.contender, said_of(line)});
    columns.add(std::move(cells));
    if (!line.note.empty()) notes += fmt::format("  * {}\n", line.note);
  }
  const std::string title =
      fmt::format("The article beside this machine: {} ({})", article.title, article.parameters);
  if (threads) notes += "  on and off CPU: the thread that hands over + the others together\n";
  return heading(title, styled) + columns.text() + notes;
}

}  // namespace

std::string tables(const json& result, bool styled) {
  std::string text;
  for (const CellView& cell : cells_of({&result})) text += cell_table(cell, styled);
  for (const ArticleView& article : articles_of({&result})) text += article_table(article, styled);
  return text;
}

}  // namespace handoff::lab

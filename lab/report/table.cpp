// SPDX-License-Identifier: MIT
// A result as tables for a terminal.
#include "report/columns.hpp"
#include "report/exports.hpp"
#include "report/ladder.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

std::vector<FigureColumn> extras_of(const CellView& cell) {
  std::vector<FigureColumn> extras = figure_columns();
  std::erase_if(extras, [](const FigureColumn& column) {
    return column.title != "switches each" && column.title != "peak memory";
  });
  extras.push_back(
      {"killed", [](const Row& row) { return figure_named(row.figures, "killed"); }, short_number});
  extras.push_back({"times as long",
                    [](const Row& row) { return figure_named(row.figures, "times_as_long"); },
                    short_number});
  std::erase_if(extras, [&](const FigureColumn& column) { return !column.is_known(cell.rows); });
  return extras;
}

// How long each launch took, or would have for the same work; empty where that cannot be told.
Times seconds_of(const Row& row) {
  const bool time = ns_in(row.unit).has_value();
  if (!row.is_measured() || (!time && !row.unit.ends_with("/s"))) return {};
  Times all = times_of(row.launches);
  if (!can_divide(all)) return {};
  if (!time) {
    for (double& value : all) value = 1 / value;
  }
  return all;
}

// What an overview would say of each of this library's ways against the best of the others; empty
// where there is nothing to compare with.
std::string beside_peers(const CellView& cell, const Row& row) {
  const Times own = seconds_of(row);
  if (row.kind != "own" || own.empty()) return {};
  std::vector<Times> peers;
  for (const Row* other : cell.rows) {
    Times times = other->kind == "peer" ? seconds_of(*other) : Times();
    if (!times.empty()) peers.push_back(std::move(times));
  }
  if (peers.empty()) return {};
  const Answer answer = answer_of(own, peers);
  const std::string range = range_text(answer);
  return verdict_text(answer) + (range.empty() ? "" : " " + range);
}

std::string cell_table(const CellView& cell, bool styled) {
  const std::vector<FigureColumn> extras = extras_of(cell);
  std::vector<std::string> beside;  // of each row
  for (const Row* row : cell.rows) beside.push_back(beside_peers(cell, *row));
  const bool judged =
      std::ranges::any_of(beside, [](const std::string& text) { return !text.empty(); });
  Columns columns;
  std::vector<std::string> titles{"contender",  cell.unit,   "99 % interval",
                                  "times best", "time each", "CPU each"};
  for (const FigureColumn& extra : extras) titles.push_back(extra.title);
  if (judged) titles.emplace_back("beside the best peer");
  columns.add(std::move(titles));
  std::string without_figures;
  for (std::size_t i = 0; i < cell.rows.size(); ++i) {
    const Row* const row = cell.rows[i];
    if (!row->is_measured()) {
      without_figures += fmt::format("  {}: {}\n", row->contender, row->state());
      continue;
    }
    std::vector<std::string> cells{row->contender};
    for (const ShownFigure& shown : figures_of(cell, *row)) cells.push_back(shown.text);
    cells.push_back(short_duration(row->per_item_of(row->wall_ns_per_op)));
    cells.push_back(short_duration(row->per_item_of(row->cpu_ns_per_op)));
    for (const FigureColumn& extra : extras) cells.push_back(extra.text(extra.value(*row)));
    if (judged) cells.push_back(std::move(beside[i]));
    columns.add(std::move(cells));
  }
  const std::string title = fmt::format("{} {}  ({}, {} is better)", cell.scenario, cell.parameters,
                                        cell.metric, cell.higher_is_better ? "higher" : "lower");
  const std::string kernel = cell.kernel_text();
  return heading(title, styled) + columns.text() + without_figures +
         (kernel.empty() ? "" : fmt::format("  {}\n", kernel));
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
    std::vector<std::string> cells{line.scheme};
    for (const ShownFigure& shown : figures_of(line, threads)) cells.push_back(shown.text);
    cells.insert(cells.end(), {line.contender.empty() ? "-" : line.contender, said_of(line)});
    columns.add(std::move(cells));
    if (!line.note.empty()) notes += fmt::format("  * {}\n", line.note);
  }
  const std::string title = fmt::format("The article compared with this machine: {} ({})",
                                        article.title, article.parameters);
  if (threads) notes += "  on and off CPU: the thread that hands over + the others together\n";
  return heading(title, styled) + columns.text() + notes;
}

}  // namespace

std::string tables(const Result& result, bool styled) {
  std::string text;
  if (result.interrupted) text += "Interrupted: the results below are incomplete.\n\n";
  for (const CellView& cell : cells_of({&result})) text += cell_table(cell, styled);
  for (const ArticleView& article : articles_of({&result})) text += article_table(article, styled);
  return text;
}

}  // namespace handoff::lab

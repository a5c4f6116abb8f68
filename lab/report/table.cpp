// SPDX-License-Identifier: MIT
// A result as tables for a terminal.
#include "report/exports.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/ladder.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

// A column that is shown where a row of the cell knows its figure.
struct Extra {
  const char* title;
  double (*value)(const Row& row);
  std::string (*text)(double value);
};

std::vector<Extra> extras_of(const CellView& cell) {
  std::vector<Extra> known{
      {"switches each",
       [](const Row& row) {
         return row.per_item.voluntary_switches + row.per_item.involuntary_switches;
       },
       short_number},
      {"peak memory", [](const Row& row) { return row.peak_memory_bytes; }, size_text},
      {"killed", [](const Row& row) { return figure_named(row.figures, "killed"); }, short_number},
      {"times as long", [](const Row& row) { return figure_named(row.figures, "times_as_long"); },
       short_number}};
  std::erase_if(known, [&](const Extra& extra) {
    return std::all_of(cell.rows.begin(), cell.rows.end(),
                       [&](const Row* row) { return std::isnan(extra.value(*row)); });
  });
  return known;
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
  const std::vector<Extra> extras = extras_of(cell);
  std::vector<std::string> beside;  // of each row
  for (const Row* row : cell.rows) beside.push_back(beside_peers(cell, *row));
  const bool judged = std::any_of(beside.begin(), beside.end(),
                                  [](const std::string& text) { return !text.empty(); });
  Columns columns;
  std::vector<std::string> titles{"contender",  cell.unit,   "99 % interval",
                                  "times best", "time each", "CPU each"};
  for (const Extra& extra : extras) titles.emplace_back(extra.title);
  if (judged) titles.emplace_back("beside the best peer");
  columns.add(std::move(titles));
  std::string without_figures;
  for (std::size_t i = 0; i < cell.rows.size(); ++i) {
    const Row* const row = cell.rows[i];
    if (!row->is_measured()) {
      without_figures += fmt::format("  {}: {}\n", row->contender, row->state());
      continue;
    }
    std::vector<std::string> cells{row->contender,
                                   short_number(row->median),
                                   interval_text(row->low, row->high),
                                   row->is_limit() ? "limit" : short_number(cell.times_best(*row)),
                                   short_duration(row->per_item_of(row->wall_ns_per_op)),
                                   short_duration(row->per_item_of(row->cpu_ns_per_op))};
    for (const Extra& extra : extras) cells.push_back(extra.text(extra.value(*row)));
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
    const std::string mark = line.note.empty() ? "" : "*";
    std::vector<std::string> cells{line.scheme, short_number(line.article_ms) + mark,
                                   short_number(line.article_speedup), short_number(line.here_ms),
                                   short_number(line.here_speedup)};
    if (threads) cells.insert(cells.end(), {text_of(line.on_cpu_ms), text_of(line.off_cpu_ms)});
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

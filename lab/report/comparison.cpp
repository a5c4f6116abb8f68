// SPDX-License-Identifier: MIT
#include "report/comparison.hpp"
#include "report/columns.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

std::string cell_title(const Row& row) {
  return fmt::format("{} {}  ({} in {}, {} is better)", row.scenario, text_of(row.parameters),
                     row.metric, row.unit, row.higher_is_better ? "higher" : "lower");
}

// What makes two rows the same work of the same contender.
auto work_of(const Row& row) {
  return std::tie(row.scenario, row.metric, row.unit, row.higher_is_better, row.parameters,
                  row.contender);
}

std::vector<std::string> cells_of_row(const Compared& row) {
  const JudgedChange& judged = *row.judged;
  return {row.now->contender,
          short_number(row.before->median),
          short_number(row.now->median),
          fmt::format("{:.3f}", judged.ratio),
          fmt::format("{:.3f} .. {:.3f}", judged.bounds.low, judged.bounds.high),
          std::string(name_of(judged.change))};
}

// The ratio is what the launches agree on, one beside the other; the medians are each of all its
// launches. Where launches are in several states the two may differ, and even point to different
// sides of 1: then neither says anything.
void look_at_medians(Compared& row) {
  JudgedChange& judged = *row.judged;
  const double medians = row.now->median / row.before->median;
  const double above = 1 + judged.margin;
  const bool is_inside = medians >= std::min(judged.bounds.low, judged.ratio / above) &&
                         medians <= std::max(judged.bounds.high, judged.ratio * above);
  if (is_inside) return;
  row.remark = fmt::format(
      "the ratio of the medians is {:.3f}, but launches of one build differ more than the two "
      "builds",
      medians);
  const bool opposite =
      (medians > above && judged.ratio < 1) || (medians < 1 / above && judged.ratio > 1);
  if (opposite) judged.change = Change::too_noisy;
}

}  // namespace

std::optional<Change> Compared::change() const {
  if (judged) return judged->change;
  if (before->is_measured() && is_broken(now->status)) return Change::worse;
  return {};
}

Compared compared(const Row& before, const Row& now, double floor) {
  Compared row{&before, &now, {}, ""};
  if (!now.is_measured()) {
    row.remark = "now " + now.state();
  } else if (!before.is_measured()) {
    row.remark = "before " + before.state();
  } else {
    row.judged = judge_rows(now, before, floor);
    if (row.judged) {
      look_at_medians(row);
    } else {
      row.remark = "no ratio: a figure is not above 0";
    }
  }
  return row;
}

std::vector<Compared> compared_results(const Result& before, const Result& now) {
  const double floor = std::max(before.environment.floor(), now.environment.floor());
  std::map<decltype(work_of(before.rows.front())), const Row*> by_work;
  for (const Row& row : now.rows) by_work.emplace(work_of(row), &row);
  std::vector<Compared> rows;
  for (const Row& row : before.rows) {
    const auto match = by_work.find(work_of(row));
    if (match != by_work.end()) rows.push_back(compared(row, *match->second, floor));
  }
  return rows;
}

std::string comparison_table(const std::vector<Compared>& rows, bool styled) {
  std::string text;
  std::vector<bool> shown(rows.size(), false);
  for (std::size_t first = 0; first < rows.size(); ++first) {
    if (shown[first]) continue;
    const std::string title = cell_title(*rows[first].before);
    Columns columns;
    columns.add({"contender", "median before", "median now", "now / before", "99 % interval of it",
                 "verdict"});
    std::string remarks;
    bool any = false;
    for (std::size_t i = first; i < rows.size(); ++i) {
      if (shown[i] || cell_title(*rows[i].before) != title) continue;
      shown[i] = true;
      if (rows[i].judged) {
        columns.add(cells_of_row(rows[i]));
        any = true;
      }
      if (rows[i].remark.empty()) continue;
      const auto change = rows[i].change();
      const bool is_shown = rows[i].judged.has_value() || !change;
      remarks += fmt::format("  {}: {}{}\n", rows[i].before->contender,
                             is_shown ? "" : fmt::format("{}: ", name_of(*change)), rows[i].remark);
    }
    text += heading(title, styled) + (any ? columns.text() : "") + remarks;
  }
  text += '\n';
  for (const Change change :
       {Change::improved, Change::unchanged, Change::worse, Change::too_noisy}) {
    text += fmt::format("{}{} {}", change == Change::improved ? "" : ", ", count(rows, change),
                        name_of(change));
  }
  return text + '\n';
}

int count(const std::vector<Compared>& rows, Change change) {
  return static_cast<int>(
      std::ranges::count_if(rows, [&](const Compared& row) { return row.change() == change; }));
}

}  // namespace handoff::lab

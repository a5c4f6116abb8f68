// SPDX-License-Identifier: MIT
#include "report/comparison.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/judged_rows.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

std::string state_of(const json& row) {
  return fmt::format("{}: {}", text_of(row, "status"), text_of(row, "reason"));
}

bool is_broken(const json& row) {
  return row.at("status") == "wrong" || row.at("status") == "failed";
}

std::string cell_title(const json& row) {
  return fmt::format("{} {}  ({} in {}, {} is better)", text_of(row, "scenario"),
                     parameters_text(row), text_of(row, "metric"), text_of(row, "unit"),
                     text_of(row, "better"));
}

// Beside the contender what makes two rows the same work.
json work_of(const json& row) {
  return {row.at("scenario"), row.at("metric"),     row.at("unit"),
          row.at("better"),   row.at("parameters"), row.at("contender")};
}

std::vector<std::string> cells_of_row(const Compared& row) {
  const JudgedChange& judged = *row.judged;
  return {text_of(*row.now, "contender"),
          short_number(figure_of(*row.before, "median")),
          short_number(figure_of(*row.now, "median")),
          fmt::format("{:.3f}", judged.ratio),
          fmt::format("{:.3f} .. {:.3f}", judged.bounds.low, judged.bounds.high),
          std::string(name_of(judged.change))};
}

}  // namespace

std::optional<Change> Compared::change() const {
  if (judged) return judged->change;
  if (is_measured(*before) && is_broken(*now)) return Change::worse;
  return {};
}

Compared compared(const json& before, const json& now, double floor) {
  Compared row{&before, &now, {}, ""};
  if (!is_measured(now)) {
    row.remark = "now " + state_of(now);
  } else if (!is_measured(before)) {
    row.remark = "before " + state_of(before);
  } else {
    row.judged = judge_rows(now, before, floor);
    if (!row.judged) row.remark = "a figure is not above 0: no ratio";
  }
  return row;
}

std::vector<Compared> compared_files(const json& before, const json& now) {
  const double floor =
      std::max(floor_of(before.at("environment")), floor_of(now.at("environment")));
  std::map<json, const json*> by_work;
  for (const json& row : now.at("rows")) by_work.emplace(work_of(row), &row);
  std::vector<Compared> rows;
  for (const json& row : before.at("rows")) {
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
    columns.add({"contender", "before", "now", "ratio", "99 % interval", "verdict"});
    std::string remarks;
    bool any = false;
    for (std::size_t i = first; i < rows.size(); ++i) {
      if (shown[i] || cell_title(*rows[i].before) != title) continue;
      shown[i] = true;
      if (rows[i].judged) {
        columns.add(cells_of_row(rows[i]));
        any = true;
      } else {
        const auto change = rows[i].change();
        remarks += fmt::format("  {}: {}{}\n", text_of(*rows[i].before, "contender"),
                               change ? fmt::format("{}: ", name_of(*change)) : "", rows[i].remark);
      }
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

json comparison_json(const std::vector<Compared>& rows) {
  json list = json::array();
  for (const Compared& row : rows) {
    json entry;
    for (const char* key : {"scenario", "contender", "parameters", "metric", "unit", "better"}) {
      entry[key] = row.now->at(key);
    }
    entry["before"] = row.before->at("median");
    entry["now"] = row.now->at("median");
    const auto change = row.change();
    entry["verdict"] = change ? json(name_of(*change)) : json();
    entry["reason"] = row.remark;
    for (const char* key : {"ratio", "low", "high", "margin"}) entry[key] = nullptr;
    if (row.judged) {
      entry["ratio"] = row.judged->ratio;
      entry["low"] = row.judged->bounds.low;
      entry["high"] = row.judged->bounds.high;
      entry["margin"] = row.judged->margin;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

int count(const std::vector<Compared>& rows, Change change) {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [&](const Compared& row) { return row.change() == change; }));
}

}  // namespace handoff::lab

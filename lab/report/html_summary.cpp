// SPDX-License-Identifier: MIT
// What the page says in short: this library against the others, the articles, the environments.
#include "report/html_parts.hpp"

namespace handoff::lab {
namespace {

// How this library stands to the others: in each cell its best way against the best other one.

// In a cell on one machine: in favour of this library where the ratio is above 1.
struct Standing {
  std::string own;
  std::string other;
  JudgedChange judged;
};

// In a cell on many machines: the names that are the most frequent, the median ratio, and on how
// many it is which verdict.
struct Standings {
  std::string own;
  std::string other;
  double ratio = 1;
  Interval bounds{};  // from the lowest to the highest
  std::map<Change, int> counts;
};

const Row* first_of(const CellView& cell, bool own) {
  const auto found = std::ranges::find_if(cell.rows, [&](const Row* row) {
    return row->is_measured() && !row->is_limit() && (row->kind == "own") == own;
  });
  return found == cell.rows.end() ? nullptr : *found;
}

std::string most_frequent(const std::vector<Standing>& standings, std::string Standing::* name) {
  std::map<std::string, int> times;
  for (const Standing& standing : standings) ++times[standing.*name];
  return std::ranges::max_element(times,
                                  [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Nothing where one of the two was not measured, or has figures that are not above 0.
std::optional<Standing> standing_in(const CellView& cell, const MachineView& machine) {
  const Row* own = first_of(cell, true);
  const Row* other = first_of(cell, false);
  if (own == nullptr || other == nullptr) return {};
  auto judged = judge_rows(*own, *other, machine.results.front()->environment.floor());
  if (!judged) return {};
  if (!cell.higher_is_better) {
    judged->ratio = 1 / judged->ratio;
    judged->bounds = {1 / judged->bounds.high, 1 / judged->bounds.low};
  }
  return Standing{own->contender, other->contender, *judged};
}

// Of at least one.
Standings together(const std::vector<Standing>& standings) {
  std::vector<double> ratios;
  Standings all;
  for (const Standing& standing : standings) {
    ratios.push_back(standing.judged.ratio);
    ++all.counts[standing.judged.change];
  }
  const auto [lowest, highest] = std::ranges::minmax_element(ratios);
  all.bounds = {*lowest, *highest};
  all.ratio = median(ratios);
  all.own = most_frequent(standings, &Standing::own);
  all.other = most_frequent(standings, &Standing::other);
  return all;
}

const char* said(Change change) {
  switch (change) {
    case Change::improved: return "ahead";
    case Change::worse: return "behind";
    case Change::unchanged: return "equal";
    case Change::too_noisy: break;
  }
  return "undecided";
}

const char* tone_of(Change change) {
  return change == Change::improved ? "good" : change == Change::worse ? "bad" : "";
}

// What was judged, one machine's or that of many together.
struct SummaryLine {
  std::string machine;
  std::string own;
  std::string other;
  double ratio;
  Interval bounds;
  std::string says;
  const char* tone;
};

SummaryLine line_of(const Standing& standing, std::size_t machine) {
  const JudgedChange& judged = standing.judged;
  return {std::to_string(machine + 1),
          standing.own,
          standing.other,
          judged.ratio,
          judged.bounds,
          said(judged.change),
          tone_of(judged.change)};
}

// Many machines in one line: the median ratio, from the lowest to the highest.
SummaryLine line_of(const Standings& all) {
  int machines = 0;
  std::string says;
  for (const Change change :
       {Change::improved, Change::unchanged, Change::worse, Change::too_noisy}) {
    const auto found = all.counts.find(change);
    if (found == all.counts.end()) continue;
    machines += found->second;
    says += fmt::format("{}{} on {}", says.empty() ? "" : ", ", said(change), found->second);
  }
  return {
      fmt::format("{} together", machines), all.own, all.other, all.ratio, all.bounds, says, ""};
}

Data data_of(const SummaryLine& line, const MergedScenario& scenario, const MergedCell& cell) {
  return object({{"id", cell.id},
                 {"cell", fmt::format("{} {}", scenario.name, title_of(cell.work))},
                 {"machine", line.machine},
                 {"own", breakable(line.own)},
                 {"other", breakable(line.other)},
                 {"ratio", short_number(line.ratio)},
                 {"ratio_value", fmt::format("{:.6g}", line.ratio)},
                 {"low_value", fmt::format("{:.6g}", line.bounds.low)},
                 {"interval", interval_text(line.bounds.low, line.bounds.high)},
                 {"says", line.says},
                 {"tone", line.tone}});
}

Data article_line(const ArticleLine& line, bool threads) {
  return object({{"scheme", line.scheme},
                 {"figures", data_list(figures_of(line, threads), figure)},
                 {"contender", line.contender.empty() ? "-" : line.contender},
                 {"says", said_of(line)},
                 {"tone", !line.reproduced   ? ""
                          : *line.reproduced ? "good"
                                             : "bad"}});
}

Data article_table(const ArticleView& view, const std::string& machine, const std::string& id) {
  Data lines{Data::type::list};
  Data notes{Data::type::list};
  const bool threads = tells_threads(view);
  for (const ArticleLine& line : view.lines) {
    lines.push_back(article_line(line, threads));
    if (!line.note.empty()) notes.push_back("* " + line.note);
  }
  return object({{"id", id},
                 {"machine", machine},
                 {"title", view.title},
                 {"parameters", view.parameters},
                 {"threads", threads},
                 {"lines", lines},
                 {"notes", notes}});
}

std::vector<ArticleView> articles_on(const MachineView& machine, const std::string& scenario) {
  std::vector<ArticleView> views = articles_of(machine.results);
  std::erase_if(views, [&](const ArticleView& view) { return view.scenario != scenario; });
  return views;
}

}  // namespace

Data summary(const std::vector<MergedScenario>& scenarios,
             const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  for (const MergedScenario& scenario : scenarios) {
    for (const MergedCell& cell : scenario.cells) {
      std::vector<Standing> standings;
      for (std::size_t m = 0; m < machines.size(); ++m) {
        const auto standing = standing_in(cell.machines[m], machines[m]);
        if (!standing) continue;
        standings.push_back(*standing);
        if (machines.size() <= most_side_by_side) {
          list.push_back(data_of(line_of(*standing, m), scenario, cell));
        }
      }
      if (machines.size() > most_side_by_side && !standings.empty()) {
        list.push_back(data_of(line_of(together(standings)), scenario, cell));
      }
    }
  }
  return list;
}

Data article_tables(const MergedScenario& scenario, const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  std::map<std::string, std::vector<ArticleView>> by_title;
  const bool many = machines.size() > most_side_by_side;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (ArticleView& view : articles_on(machines[m], scenario.name)) {
      const std::string where =
          machines.size() > 1 ? fmt::format("machine {}", m + 1) : "this machine";
      const std::string id = fmt::format("{}a{}", scenario.id, list.list_value().size() + 1);
      if (!many) list.push_back(article_table(view, where, id));
      by_title[view.title + view.parameters].push_back(std::move(view));
    }
  }
  if (!many) return list;
  for (const auto& [title, views] : by_title) {
    const std::string id = fmt::format("{}a{}", scenario.id, list.list_value().size() + 1);
    list.push_back(article_table(together(views), fmt::format("{} machines", views.size()), id));
  }
  return list;
}

Data environments(const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (const Result* result : machines[m].results) {
      const std::string date = result->environment.date();
      list.push_back(
          object({{"title", machines.size() > 1
                                ? fmt::format("Machine {}: {}, {}", m + 1, machines[m].name, date)
                                : fmt::format("The machine and the build, {}", date)},
                  {"facts", data_list(facts_in_words(result->environment), [](const auto& fact) {
                     return object({{"name", fact.first}, {"value", fact.second}});
                   })}}));
    }
  }
  return list;
}

}  // namespace handoff::lab

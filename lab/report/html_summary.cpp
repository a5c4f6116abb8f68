// SPDX-License-Identifier: MIT
// What the page says in short: this library against the others, the articles, the environments.
#include <algorithm>

#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/standing.hpp"

namespace handoff::lab {
namespace {

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
  Data data;
  data.set("id", cell.id);
  data.set("cell", fmt::format("{} {}", scenario.name, title_of(cell.work)));
  data.set("machine", line.machine);
  data.set("own", breakable(line.own));
  data.set("other", breakable(line.other));
  data.set("ratio", short_number(line.ratio));
  data.set("ratio_value", fmt::format("{:.6g}", line.ratio));
  data.set("low_value", fmt::format("{:.6g}", line.bounds.low));
  data.set("interval", interval_text(line.bounds.low, line.bounds.high));
  data.set("says", line.says);
  data.set("tone", line.tone);
  return data;
}

Data article_line(const ArticleLine& line, bool threads) {
  Data figures{Data::type::list};
  for (const ShownFigure& shown : figures_of(line, threads)) figures.push_back(figure(shown));
  Data data;
  data.set("scheme", line.scheme);
  data.set("figures", figures);
  data.set("contender", line.contender.empty() ? "-" : line.contender);
  data.set("says", said_of(line));
  data.set("tone", !line.reproduced ? "" : *line.reproduced ? "good" : "bad");
  return data;
}

Data article_table(const ArticleView& view, const std::string& machine, const std::string& id) {
  Data lines{Data::type::list};
  Data notes{Data::type::list};
  const bool threads = tells_threads(view);
  for (const ArticleLine& line : view.lines) {
    lines.push_back(article_line(line, threads));
    if (!line.note.empty()) notes.push_back("* " + line.note);
  }
  Data data;
  data.set("id", id);
  data.set("machine", machine);
  data.set("title", view.title);
  data.set("parameters", view.parameters);
  data.set("threads", threads);
  data.set("lines", lines);
  data.set("notes", notes);
  return data;
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
      Data facts{Data::type::list};
      for (const auto& [name, value] : facts_in_words(result->environment)) {
        Data fact;
        fact.set("name", name);
        fact.set("value", value);
        facts.push_back(fact);
      }
      Data data;
      data.set("title", machines.size() > 1
                            ? fmt::format("Machine {}: {}, {}", m + 1, machines[m].name, date)
                            : fmt::format("The machine and the build, {}", date));
      data.set("facts", facts);
      list.push_back(data);
    }
  }
  return list;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// What the page says in short: this library against the others, the articles, the environments.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "harness/verdict.hpp"
#include "report/html_parts.hpp"
#include "report/judged_rows.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// A cell on one machine, judged in favour of this library where the ratio is above 1.
struct Glance {
  std::string own;
  std::string other;
  JudgedChange judged;
};

const json* first_of(const CellView& cell, bool own) {
  const auto found = std::find_if(cell.rows.begin(), cell.rows.end(), [&](const json* row) {
    return is_measured(*row) && row->at("kind") != "limit" && (row->at("kind") == "own") == own;
  });
  return found == cell.rows.end() ? nullptr : *found;
}

std::optional<Glance> glance_at(const CellView& cell, const MachineView& machine) {
  const json* own = first_of(cell, true);
  const json* other = first_of(cell, false);
  if (own == nullptr || other == nullptr) return {};
  auto judged = judge_rows(*own, *other, floor_of(machine.results.front()->at("environment")));
  if (!judged) return {};
  if (!cell.higher_is_better) {
    judged->ratio = 1 / judged->ratio;
    judged->bounds = {1 / judged->bounds.high, 1 / judged->bounds.low};
  }
  return Glance{text_of(*own, "contender"), text_of(*other, "contender"), *judged};
}

const char* said(Change change) {
  switch (change) {
    case Change::improved: return "ahead";
    case Change::worse: return "behind";
    case Change::unchanged: return "equal";
    case Change::too_noisy: break;
  }
  return "not told apart";
}

const char* tone_of(Change change) {
  return change == Change::improved ? "good" : change == Change::worse ? "bad" : "";
}

void set_ratio(Data& data, double ratio, const Interval& bounds) {
  data.set("ratio", short_number(ratio));
  data.set("ratio_value", fmt::format("{:.6g}", ratio));
  data.set("low_value", fmt::format("{:.6g}", bounds.low));
  data.set("interval",
           fmt::format("{} .. {}", short_number(bounds.low), short_number(bounds.high)));
}

Data line_for(const MergedScenario& scenario, const MergedCell& cell, const Glance& glance,
              std::size_t machine) {
  Data data;
  data.set("id", cell.id);
  data.set("cell", fmt::format("{} {}", scenario.name, title_of(cell.work)));
  data.set("machine", std::to_string(machine + 1));
  data.set("own", breakable(glance.own));
  data.set("other", breakable(glance.other));
  set_ratio(data, glance.judged.ratio, glance.judged.bounds);
  data.set("says", said(glance.judged.change));
  data.set("tone", tone_of(glance.judged.change));
  return data;
}

std::string most_frequent(const std::vector<Glance>& glances, std::string Glance::* name) {
  std::map<std::string, int> counts;
  for (const Glance& glance : glances) ++counts[glance.*name];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Many machines in one line: the median ratio, from the lowest to the highest.
Data line_for(const MergedScenario& scenario, const MergedCell& cell,
              const std::vector<Glance>& glances) {
  std::vector<double> ratios;
  std::map<Change, int> counts;
  for (const Glance& glance : glances) {
    ratios.push_back(glance.judged.ratio);
    ++counts[glance.judged.change];
  }
  const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
  Data data;
  data.set("id", cell.id);
  data.set("cell", fmt::format("{} {}", scenario.name, title_of(cell.work)));
  data.set("machine", fmt::format("{} together", glances.size()));
  data.set("own", breakable(most_frequent(glances, &Glance::own)));
  data.set("other", breakable(most_frequent(glances, &Glance::other)));
  set_ratio(data, median(ratios), {*lowest, *highest});
  std::string says;
  for (const Change change :
       {Change::improved, Change::unchanged, Change::worse, Change::too_noisy}) {
    if (counts[change] == 0) continue;
    says += fmt::format("{}{} on {}", says.empty() ? "" : ", ", said(change), counts[change]);
  }
  data.set("says", says);
  data.set("tone", "");
  return data;
}

Data article_line(const ArticleLine& line, bool threads) {
  Data figures{Data::type::list};
  figures.push_back(
      figure(short_number(line.article_ms) + (line.note.empty() ? "" : "*"), line.article_ms));
  for (const double value : {line.article_speedup, line.here_ms, line.here_speedup}) {
    figures.push_back(figure(short_number(value), value));
  }
  if (threads) {
    for (const ThreadsMs& ms : {line.on_cpu_ms, line.off_cpu_ms}) {
      figures.push_back(figure(text_of(ms), ms.submitter + ms.others));
    }
  }
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

// The same article on many machines: the medians, and on how many it was reproduced.
ArticleView together(const std::vector<ArticleView>& views) {
  ArticleView all = views.front();
  for (std::size_t l = 0; l < all.lines.size(); ++l) {
    std::vector<double> ms;
    std::vector<double> speedups;
    int told = 0;
    int reproduced = 0;
    for (const ArticleView& view : views) {
      const ArticleLine& line = view.lines.at(l);
      if (std::isfinite(line.here_ms)) ms.push_back(line.here_ms);
      if (std::isfinite(line.here_speedup)) speedups.push_back(line.here_speedup);
      told += line.reproduced.has_value() ? 1 : 0;
      reproduced += line.reproduced.value_or(false) ? 1 : 0;
    }
    ArticleLine& line = all.lines[l];
    line.here_ms = ms.empty() ? NAN : median(ms);
    line.here_speedup = speedups.empty() ? NAN : median(speedups);
    line.on_cpu_ms = line.off_cpu_ms = {};
    line.reproduced.reset();
    if (told > 0) line.why = fmt::format("on {} of {} machines", reproduced, told);
  }
  return all;
}

std::vector<ArticleView> articles_on(const MachineView& machine, const std::string& scenario) {
  std::vector<ArticleView> views = articles_of(machine.results);
  std::erase_if(views, [&](const ArticleView& view) { return view.scenario != scenario; });
  return views;
}

std::string in_words(std::string key) {
  constexpr std::string_view unit = "_bytes";
  if (key.ends_with(unit)) key.resize(key.size() - unit.size());
  std::replace(key.begin(), key.end(), '_', ' ');
  return key == "bytes" ? "size" : key;
}

}  // namespace

std::string size_text(double bytes) {
  if (std::isnan(bytes)) return "-";
  constexpr std::array<const char*, 4> units{"bytes", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && bytes >= 1024; ++unit) bytes /= 1024;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

Data summary(const std::vector<MergedScenario>& scenarios,
             const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  for (const MergedScenario& scenario : scenarios) {
    for (const MergedCell& cell : scenario.cells) {
      std::vector<Glance> glances;
      for (std::size_t m = 0; m < machines.size(); ++m) {
        const auto glance = glance_at(cell.machines[m], machines[m]);
        if (!glance) continue;
        glances.push_back(*glance);
        if (machines.size() <= most_side_by_side) {
          list.push_back(line_for(scenario, cell, *glance, m));
        }
      }
      if (machines.size() > most_side_by_side && !glances.empty()) {
        list.push_back(line_for(scenario, cell, glances));
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

std::string as_text(const json& value, const std::string& name) {
  if (value.is_string()) return value;
  if (value.is_null() || (value.is_structured() && value.empty())) return "none";
  if (value.is_number() && name.ends_with("bytes")) return size_text(value);
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  std::string text;
  if (value.is_array()) {
    for (const json& element : value) {
      const std::string inner = as_text(element);
      text += (text.empty() ? "" : ", ") + (element.is_object() ? '(' + inner + ')' : inner);
    }
    return text;
  }
  if (!value.is_object()) return value.dump();
  for (const auto& [key, element] : value.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", in_words(key), as_text(element, key));
  }
  return text;
}

Data environments(const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (const json* result : machines[m].results) {
      const json& environment = result->at("environment");
      Data facts{Data::type::list};
      for (const auto& [name, value] : environment.items()) {
        Data fact;
        fact.set("name", in_words(name));
        fact.set("value", as_text(value, name));
        facts.push_back(fact);
      }
      Data data;
      data.set("title",
               machines.size() > 1
                   ? fmt::format("Machine {}: {}, {}", m + 1, machines[m].name,
                                 text_of(environment, "date"))
                   : fmt::format("The machine and the build, {}", text_of(environment, "date")));
      data.set("facts", facts);
      list.push_back(data);
    }
  }
  return list;
}

}  // namespace handoff::lab

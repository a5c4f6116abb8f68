// SPDX-License-Identifier: MIT
#include "report/html.hpp"
#include "page_template.hpp"
#include "report/html_parts.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

// How much of the result files the page carries; each level sheds more.
enum class Level { all, without_bursts, without_results, sums, sums_alone };

const char* what_was_shed(Level level) {
  switch (level) {
    case Level::all: return "";
    case Level::without_bursts:
      return "To keep the page small, its result files contain no single bursts.";
    case Level::without_results: return "To keep the page small, it contains no result files.";
    case Level::sums:
      return "To keep the page small, it only sums up all machines: a page of fewer machines has "
             "the figures of each.";
    case Level::sums_alone: break;
  }
  return "To keep the page small, it only sums up all machines and names them: a page of fewer "
         "machines has the figures and the environment of each.";
}

// The result files themselves, for other programs. No `<` of theirs can end the element.
std::string embedded(const Results& results, bool with_bursts) {
  std::string safe;
  for (const char c : to_json_line(results, with_bursts)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= there ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

Data cell_of(const MergedCell& cell, bool several, Level level, std::size_t machines) {
  Data data =
      object({{"id", cell.id},
              {"title", title_of(cell.work)},
              {"metric", fmt::format("{} in {}", cell.work.metric, cell.work.unit)},
              {"unit", cell.work.unit},
              {"better", cell.work.higher_is_better ? "higher is better" : "lower is better"}});
  if (several) data.set("strip", strip_table(cell));
  if (level < Level::sums) data.set("bars", bar_table(cell, machines > most_side_by_side));
  return data;
}

Data scenarios_of(const std::vector<MergedScenario>& scenarios,
                  const std::vector<MachineView>& machines, Level level) {
  const bool several = machines.size() > 1;
  Data list{Data::type::list};
  for (const MergedScenario& scenario : scenarios) {
    Data data = object({{"id", scenario.id}, {"name", scenario.name}});
    data.set("cells", data_list(scenario.cells, [&](const MergedCell& cell) {
               return cell_of(cell, several, level, machines.size());
             }));
    Data charts = line_charts(scenario, machines);
    data.set("has_charts", charts.is_non_empty_list());
    data.set("charts", charts);
    data.set("articles", article_tables(scenario, machines));
    list.push_back(data);
  }
  return list;
}

std::string date_of(const MachineView& machine) {
  std::string dates;
  for (const Result* result : machine.results) {
    const std::string date = result->environment.date().substr(0, 10);
    if (dates.find(date) == std::string::npos) dates += (dates.empty() ? "" : ", ") + date;
  }
  return dates;
}

Data machine_list(const std::vector<MachineView>& machines) {
  Data list{Data::type::list};
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const Environment& environment = machines[m].results.front()->environment;
    list.push_back(object({{"number", std::to_string(m + 1)},
                           {"name", machines[m].name},
                           {"kernel", environment.kernel()},
                           {"compiler", environment.compiler()},
                           {"commit", environment.commit().empty() ? "none" : environment.commit()},
                           {"date", date_of(machines[m])}}));
  }
  return list;
}

// What a page is made of, whatever its level.
struct Parts {
  std::vector<MachineView> machines;
  std::vector<MergedScenario> scenarios;
  std::vector<MachineLadder> ladders;
  Data glance;
  const FramePicture* picture;  // or null
};

std::string rendered(const Results& results, const Parts& parts, Level level) {
  const std::vector<MachineView>& machines = parts.machines;
  const bool several = machines.size() > 1;
  Data page;
  page.set("where", several            ? fmt::format("{} machines", machines.size())
                    : machines.empty() ? "no machine"
                                       : machines.front().name);
  if (machines.size() == 1) page.set("date", date_of(machines.front()));
  page.set("count", std::to_string(machines.size()));
  page.set("interrupted",
           std::ranges::any_of(results, [](const Result* result) { return result->interrupted; }));
  page.set("several", several);
  page.set("place", several || parts.ladders.empty());  // else the ladder tells it
  set_answers(page, parts.ladders, machines, parts.scenarios, level >= Level::sums);
  page.set("sortable", true);
  if (level != Level::all) page.set("reduced", what_was_shed(level));
  page.set("margin", fmt::format("{:g} %", kLeastMargin * 100));
  page.set("within", fmt::format("{:g}", reproduced_within));
  page.set("has_summary", parts.glance.is_non_empty_list());
  page.set("summary", parts.glance);
  page.set("scenarios", scenarios_of(parts.scenarios, machines, level));
  if (parts.picture != nullptr) {
    page.set("picture", base64(parts.picture->png));
    page.set("picture_told", parts.picture->told);
  }
  page.set("machines", machine_list(machines));
  if (level < Level::sums_alone) page.set("files", environments(machines));
  if (level < Level::without_results) {
    page.set("results", embedded(results, level == Level::all));
  }
  kainjow::mustache::mustache html{std::string(page_template)};
  return html.render(page);
}

}  // namespace

std::string page(const Results& results, std::size_t limit_bytes, const FramePicture* picture) {
  Parts parts{machines_of(results), {}, {}, {}, picture};
  parts.scenarios = merged(parts.machines);
  parts.ladders = ladders_on(parts.machines);
  parts.glance = summary(parts.scenarios, parts.machines);
  std::string html;
  for (const Level level : {Level::all, Level::without_bursts, Level::without_results, Level::sums,
                            Level::sums_alone}) {
    if (level >= Level::sums && parts.machines.size() == 1) break;
    html = rendered(results, parts, level);
    if (html.size() <= limit_bytes) break;
  }
  return html;
}

}  // namespace handoff::lab

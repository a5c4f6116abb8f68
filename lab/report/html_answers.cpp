// SPDX-License-Identifier: MIT
// The page's answers: the first screen, which is the ladder under its sentence, then efficiency
// against the size of a task, then which way fits which work.
#include <cctype>

#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/ladder_svg.hpp"
#include "report/ladder_words.hpp"
#include "report/line_chart.hpp"
#include "report/rung_words.hpp"

namespace handoff::lab {
namespace {

Data way_of(const std::optional<RungWay>& way) {
  Data data;
  const std::string order = way ? order_of(*way) : "";
  data.set("name", way ? breakable(way->contender) + (order.empty() ? "" : ", " + order) : "");
  data.set("time", way ? short_duration(way->median) : "-");
  data.set("value", way ? fmt::format("{:.6g}", way->median) : "");
  return data;
}

Data line_of(const Rung& rung) {
  Data data;
  std::string title = rung.title;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  data.set("title", title);
  data.set("cell", fmt::format("{} {} {}", rung.scenario, rung.metric, text_of(rung.parameters)));
  data.set("own", way_of(rung.own));
  data.set("interval", rung.own ? interval_of(*rung.own) : "-");
  data.set("verdict", with_range_of(verdict_text(rung), rung));
  data.set("tone", tone_of(rung));
  data.set("peer", way_of(rung.peer));
  data.set("peer_interval", rung.peer ? interval_of(*rung.peer) : "-");
  data.set("today", way_of(rung.today));
  data.set("limit", way_of(rung.limit));
  return data;
}

Data ladder_data(const MachineLadder& one, const MachineView& machine) {
  const Environment& environment = machine.results.front()->environment;
  const LadderContext context = context_of(environment, one.ladder);
  Data lines{Data::type::list};
  for (const Rung& rung : one.ladder.rungs) lines.push_back(line_of(rung));
  Data data;
  data.set("name", fmt::format("machine {}, {}", one.machine + 1, machine.name));
  std::string sum = sum_of(one.ladder) + '.';
  sum[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sum[0])));
  data.set("sum", sum);
  if (!one.ladder.busy.empty()) data.set("busy", one.ladder.busy);
  if (!one.ladder.sentence.empty()) data.set("sentence", one.ladder.sentence);
  data.set("narrow", ladder_svg(one.ladder, context, LadderForm::narrow));
  data.set("wide", ladder_svg(one.ladder, context, LadderForm::wide));
  data.set("rungs", lines);
  return data;
}

}  // namespace

std::vector<MachineLadder> ladders_on(const std::vector<MachineView>& machines) {
  std::vector<MachineLadder> found;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (const Result* result : machines[m].results) {
      if (result->rungs.empty()) continue;
      found.push_back({m, ladder_of(*result)});
      break;
    }
  }
  return found;
}

void set_answers(Data& page, const std::vector<MachineLadder>& ladders,
                 const std::vector<MachineView>& machines,
                 const std::vector<MergedScenario>& scenarios, bool first_alone) {
  page.set("answers", !ladders.empty());
  if (ladders.empty()) return;
  const std::size_t first = ladders.front().machine;
  page.set("ladder", ladder_data(ladders.front(), machines[first]));
  Data others{Data::type::list};
  for (std::size_t i = 1; i < ladders.size() && !first_alone; ++i) {
    others.push_back(ladder_data(ladders[i], machines[ladders[i].machine]));
  }
  page.set("other_ladders", others);
  page.set("efficiency", efficiency_chart(scenarios, machines, first));
  page.set("advice", advice_tables(machines[first].results));
}

}  // namespace handoff::lab

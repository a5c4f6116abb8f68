// SPDX-License-Identifier: MIT
// The page's answers: the first screen, which is the ladder under its sentence, then efficiency
// against the size of a task, then which way fits which work.
#include "report/advice.hpp"
#include "report/html_parts.hpp"
#include "report/ladder_svg.hpp"
#include "report/ladder_words.hpp"
#include "report/line_chart.hpp"

namespace handoff::lab {
namespace {

Data named_way(const std::optional<RungWay>& way) {
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
  data.set("own", named_way(rung.own));
  data.set("interval", rung.own ? interval_of(*rung.own) : "-");
  data.set("verdict", with_range_of(verdict_text(rung), rung));
  data.set("tone", tone_of(rung));
  data.set("peer", named_way(rung.peer));
  data.set("peer_interval", rung.peer ? interval_of(*rung.peer) : "-");
  data.set("today", named_way(rung.today));
  data.set("limit", named_way(rung.limit));
  return data;
}

Data ladder_data(const MachineLadder& one, const MachineView& machine) {
  const Environment& environment = machine.results.front()->environment;
  const LadderContext context = context_of(environment, one.ladder);
  Data data;
  data.set("name", fmt::format("machine {}, {}", one.machine + 1, machine.name));
  std::string sum = sum_of(one.ladder) + '.';
  sum[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sum[0])));
  data.set("sum", sum);
  if (!one.ladder.busy.empty()) data.set("busy", one.ladder.busy);
  if (!one.ladder.sentence.empty()) data.set("sentence", one.ladder.sentence);
  data.set("narrow", ladder_svg(one.ladder, context, LadderForm::narrow));
  data.set("wide", ladder_svg(one.ladder, context, LadderForm::wide));
  data.set("rungs", data_list(one.ladder.rungs, [](const Rung& rung) { return line_of(rung); }));
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

// The page's third answer: which way for which work, from its own figures, as `handoff advise`
// gives it.
namespace {

struct Kind {
  const char* title;
  bool by_index;
  bool nested;
  bool in_order;
};

constexpr std::array<Kind, 4> kinds{
    {{"Tasks, in any order", false, false, false},
     {"Tasks that must begin in order", false, false, true},
     {"Tasks that hand over tasks and wait for them", false, true, false},
     {"Indices of a loop", true, false, false}}};
constexpr std::array<double, 4> pieces_ns{100, 1e3, 20e3, 1e6};
constexpr std::array<std::uint64_t, 2> counts{100, 10'000};

Question question_of(const Kind& kind, double piece_ns, std::uint64_t count) {
  Question question;
  question.task_ns = piece_ns;
  question.count = count;
  question.by_index = kind.by_index;
  question.nested = kind.nested;
  question.in_order = kind.in_order;
  return question;
}

std::string way_named(const std::string& name) {
  return name == "here" ? "do it yourself" : breakable(name);
}

// What sleeps when it is idle, and how many times the best way's time it takes.
std::string asleep(Question question, const Results& results, const Way& best) {
  question.idle_percent = kAsleepPercent;
  const Advice advice = advice_on(question, results);
  if (!advice.missing.empty()) return "";
  const Way& way = advice.ways.front();
  if (way.name == best.name) return "the same";
  return fmt::format("{}, {}x", way_named(way.name), short_number(way.ns / best.ns));
}

Data line_of(const Question& question, const Advice& advice, const std::string& idle) {
  const Way& best = advice.ways.front();
  Data data = object({{"piece", round_duration(question.task_ns)},
                      {"count", std::to_string(question.count)},
                      {"way", way_named(best.name)},
                      {"call", best.call.empty() || best.name == "here" ? "-" : best.call},
                      {"time", time_text(best)}});
  const bool has_next = advice.ways.size() > 1;
  data.set("next", has_next ? way_named(advice.ways[1].name) : "-");
  data.set("price", has_next ? times_first(advice, advice.ways[1]) : "-");
  data.set("idle", idle);
  return data;
}

// Those that would measure what is missing.
std::string commands_for(const Advice& advice) {
  std::string commands;
  for (const Missing& missing : advice.missing) {
    commands += (commands.empty() ? "handoff run " : "; handoff run ") + run_arguments(missing);
  }
  return commands;
}

Data table_of(const Kind& kind, const Results& results) {
  Data data;
  data.set("kind", kind.title);
  Data lines{Data::type::list};
  bool tells_idle = false;
  for (const double piece_ns : pieces_ns) {
    for (const std::uint64_t count : counts) {
      const Question question = question_of(kind, piece_ns, count);
      const Advice advice = advice_on(question, results);
      if (!advice.missing.empty()) {
        data.set("lacks", commands_for(advice));
        return data;
      }
      const std::string idle = asleep(question, results, advice.ways.front());
      tells_idle = tells_idle || !idle.empty();
      lines.push_back(line_of(question, advice, idle));
      data.set("width", std::to_string(advice.width));
    }
  }
  data.set("tells_idle", tells_idle);
  data.set("lines", lines);
  return data;
}

}  // namespace

Data advice_tables(const Results& results) {
  return data_list(kinds, [&](const Kind& kind) { return table_of(kind, results); });
}

}  // namespace handoff::lab

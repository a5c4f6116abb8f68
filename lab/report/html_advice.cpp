// SPDX-License-Identifier: MIT
// The page's third answer: which way for which work, from its own figures, as `handoff advise`
// gives it.
#include <array>

#include <fmt/format.h>

#include "report/advice.hpp"
#include "report/html_parts.hpp"

namespace handoff::lab {
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

std::string plain_duration_of(double ns) {
  if (ns >= 1e6) return fmt::format("{:g} ms", ns / 1e6);
  return ns >= 1e3 ? fmt::format("{:g} us", ns / 1e3) : fmt::format("{:g} ns", ns);
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
  Data data;
  data.set("piece", plain_duration_of(question.task_ns));
  data.set("count", std::to_string(question.count));
  data.set("way", way_named(best.name));
  data.set("call", best.call.empty() || best.name == "here" ? "-" : best.call);
  data.set("time", time_text(best));
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
  Data list{Data::type::list};
  for (const Kind& kind : kinds) list.push_back(table_of(kind, results));
  return list;
}

}  // namespace handoff::lab

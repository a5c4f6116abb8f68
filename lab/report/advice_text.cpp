// SPDX-License-Identifier: MIT
// Advice in words, for a terminal: what to take, what is equal to it, and why.
#include "report/advice.hpp"
#include "report/columns.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

const char* unit_words(const Question& question) {
  switch (question.unit) {
    case Unit::event: return "events";
    case Unit::message: return "messages";
    case Unit::command: return "commands";
    case Unit::file: return "files";
    default: return question.by_index ? "indices" : "tasks";
  }
}

std::string question_text(const Question& question, std::uint64_t width) {
  const bool is_piece = question.unit == Unit::piece;
  std::string text = fmt::format("{} {}", question.count, unit_words(question));
  if (is_piece || question.task_ns > 0) text += " of " + short_duration(question.task_ns);
  if (question.bytes) text += ", " + size_text(*question.bytes) + " each";
  if (question.largest > 1) {
    text += fmt::format(", the largest {} times the mean", short_number(question.largest));
  }
  if (question.waves > 1) text += fmt::format(", in {} waves", question.waves);
  if (question.by_memory) text += ", bound by memory";
  if (question.nested) text += ", which hand over tasks and wait for them";
  if (question.in_order) {
    text += question.per_producer ? ", each producer's in order"
            : is_piece            ? ", begun in order"
                                  : ", in order";
  }
  if (question.kinds > 1) text += fmt::format(", of {} kinds", question.kinds);
  if (question.producers > 1) text += fmt::format(", by {} threads", question.producers);
  if (question.by_processes) text += ", by processes";
  if (question.for_latency) text += ", soon";
  if (question.bounded) text += ", in bounded memory";
  if (question.durable) text += ", durable";
  if (question.idle_percent) {
    text += fmt::format(", at most {} % of a CPU when idle", *question.idle_percent);
  }
  return is_piece ? text + fmt::format("; {} threads", width) : text;
}

std::string first_line(const Way& way) {
  const std::string code = way.code.empty() ? "" : ": " + way.code;
  return fmt::format("take  {}, {}{}\n", way.name, time_text(way), code);
}

const Way& way_named(const Advice& advice, const std::string& name) {
  return *std::ranges::find(advice.ways, name, &Way::name);
}

// Why the first one stands before those that are equal: "this library's own and asleep when idle".
std::string why_first(const Advice& advice) {
  const Way& best = advice.ways.front();
  if (best.name == "here") return "no hand-over at all";
  const auto beats_any = [&](auto is_worse) {
    return std::ranges::any_of(
        advice.equal, [&](const std::string& name) { return is_worse(way_named(advice, name)); });
  };
  std::vector<std::string> reasons;
  const auto add = [&](const char* reason, bool holds) {
    if (holds) reasons.emplace_back(reason);
  };
  add("this library's own", beats_any([&](const Way& way) { return best.is_own && !way.is_own; }));
  add("asleep when idle",
      beats_any([&](const Way& way) { return best.is_asleep() && !way.is_asleep(); }));
  add("small in memory",
      beats_any([&](const Way& way) { return best.memory_bytes < way.memory_bytes; }));
  return reasons.empty() ? "the fastest" : fmt::format("{}", fmt::join(reasons, " and "));
}

// What is equal, what would change it, how it was found.
std::string lines_below_the_answer(const Advice& advice) {
  const Way& best = advice.ways.front();
  std::string text;
  if (!advice.equal.empty()) {
    text += fmt::format("equal {}: no measured difference to {}, which comes first: {}\n",
                        fmt::join(advice.equal, ", "), best.name, why_first(advice));
  }
  for (const Crossing& change : advice.changes) text += fmt::format("but   {}\n", text_of(change));
  if (!best.method.empty()) text += fmt::format("from  {}: {}\n", best.method, best.source);
  if (!advice.unsure.empty()) text += fmt::format("note  unsure: {}\n", advice.unsure);
  return text;
}

// When another way is first: "if each takes less than 3.00 us".
std::string condition_text(const Crossing& change) {
  const char* const side = change.above ? "more" : "less";
  switch (change.of) {
    case Crossing::Of::piece:
      return fmt::format("if each takes {} than {}", side, short_duration(change.at));
    case Crossing::Of::bytes:
      return fmt::format("if each has {} than {}", side, size_text(change.at));
    default:  // the count at which it has changed already
      return fmt::format("if there are {:.0f} or {}", std::round(change.at),
                         change.above ? "more" : "fewer");
  }
}

}  // namespace

std::string times_first(const Advice& advice, const Way& way) {
  const bool is_equal = contains(advice.equal, way.name);
  return is_equal ? "equal" : short_number(way.ns / advice.ways.front().ns) + "x";
}

std::string text_of(const Missing& missing) {
  const std::string parameters = text_of(missing.parameters);
  return fmt::format("{} {}{}{}", missing.scenario, missing.metric, parameters.empty() ? "" : " ",
                     parameters);
}

std::string run_arguments(const Missing& missing) {
  std::string text = fmt::format("{} --metrics {}", missing.scenario, missing.metric);
  for (const auto& [name, value] : missing.parameters) {
    text += fmt::format(" --set {}={}", name, value.text);
  }
  return text;
}

std::string text_of(const Crossing& change) {
  return fmt::format("{}: {}", condition_text(change),
                     change.way == "here" ? "here, without a hand-over" : change.way);
}

std::string time_text(const Way& way) {
  std::string text = short_duration(way.ns);
  if (way.low_ns == way.high_ns) return text;
  if (std::isnan(way.low_ns) || std::isnan(way.high_ns)) return text + " (range not known)";
  double unit = 1;
  while (way.ns / unit >= 999.5 && unit < 1e9) unit *= 1e3;
  return fmt::format("{}, {} .. {}", text, short_number(way.low_ns / unit),
                     short_number(way.high_ns / unit));
}

std::string advice_text(const Question& question, const Advice& advice, bool styled) {
  std::string text = first_line(advice.ways.front()) + lines_below_the_answer(advice);
  text += heading(question_text(question, advice.width), styled);
  Columns columns;
  columns.add({"way", "in all", "each", "times first", "wake-up", "by"});
  std::string remarks;
  for (const Way& way : advice.ways) {
    columns.add({way.name, time_text(way), short_duration(way.ns_per_task),
                 times_first(advice, way), short_duration(way.after_idle_ns),
                 way.source.empty() ? "-" : way.source});
    if (!way.reservation.empty()) remarks += fmt::format("  {} is {}\n", way.name, way.reservation);
  }
  text += columns.text() + remarks;
  for (const auto& [name, why] : advice.left_out) {
    text += fmt::format("  left out: {}: {}\n", name, why);
  }
  return text;
}

}  // namespace handoff::lab

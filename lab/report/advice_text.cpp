// SPDX-License-Identifier: MIT
// Advice in words.
#include <cmath>

#include <fmt/format.h>

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

// Beside the name, where there is something to say.
std::string way_line(const char* word, const Way& way) {
  return fmt::format("{:<6}{}{}{}: {} in all, {} each\n", word, way.name,
                     way.call.empty() ? "" : ", ", way.call, short_duration(way.ns),
                     short_duration(way.ns_per_task));
}

std::string lines_below_the_answer(const Advice& advice) {
  const Way& best = advice.ways.front();
  std::string text;
  if (!best.code.empty()) text += fmt::format("code  {}\n", best.code);
  for (const Crossing& change : advice.changes) text += fmt::format("but   {}\n", text_of(change));
  if (!advice.as_good.empty()) {
    text += fmt::format("same  {}: not told from the best\n", fmt::join(advice.as_good, ", "));
  }
  if (best.model.fitted > 0) text += fmt::format("model {}\n", text_of(best.model));
  if (!advice.unsure.empty()) text += fmt::format("note  unsure: {}\n", advice.unsure);
  return text;
}

std::string amount_text(const Crossing& change) {
  switch (change.of) {
    case Crossing::Of::piece: return short_duration(change.at) + " a piece";
    case Crossing::Of::bytes: return size_text(change.at) + " each";
    default: return fmt::format("{:.0f} of them", std::round(change.at));
  }
}

}  // namespace

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
  const bool is_count = change.of == Crossing::Of::count;  // at which it has changed already
  const char* const side =
      change.above ? (is_count ? "from" : "above") : (is_count ? "up to" : "below");
  return fmt::format("{} {}: {}", side, amount_text(change), change.way);
}

std::string text_of(const CostModel& model) {
  std::string text = fmt::format("{} {}", model.fitted, model.fitted == 1 ? "cell" : "cells");
  if (model.held_out == 0) return text + ", too few to hold any out";
  return text + fmt::format(", held out in turn: median error {:.0f} %, worst {:.0f} %",
                            100 * model.median_error, 100 * model.worst_error);
}

std::string advice_text(const Question& question, const Advice& advice, bool styled) {
  std::string text = way_line("take", advice.ways.front());
  if (advice.ways.size() > 1) text += way_line("else", advice.ways[1]);
  text += lines_below_the_answer(advice);
  text += heading(question_text(question, advice.width), styled);
  Columns columns;
  columns.add({"way", "in all", "each", "times best", "wake-up", "by"});
  std::string remarks;
  for (const Way& way : advice.ways) {
    columns.add({way.name, short_duration(way.ns), short_duration(way.ns_per_task),
                 short_number(way.ns / advice.ways.front().ns), short_duration(way.after_idle_ns),
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

// SPDX-License-Identifier: MIT
// The ladder as text for a README: its sentence, a table with a line for each rung, and what it was
// measured on.
#include "harness/user_error.hpp"
#include "report/exports.hpp"
#include "report/ladder_words.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

std::string figure_of(const RungWay& way) {
  const std::string median = short_duration(way.median);
  if (std::isnan(way.low) || std::isnan(way.high)) return median;
  return fmt::format("{} ({})", median, interval_of(way));
}

std::string behind(const std::string& text) { return text.empty() ? "" : ", " + text; }

// Another way of this library has a name, so that it is told from the best one.
std::string own_text(const Rung& rung) {
  if (!rung.own) return "-";
  std::string text = figure_of(*rung.own) + behind(order_of(*rung.own));
  for (const RungWay* way : beside_the_best(rung)) {
    if (!way->is_own()) continue;
    text += fmt::format("; {} in {}{}", short_duration(way->median), name_of_way(way->contender),
                        behind(order_of(*way)));
  }
  return text;
}

// Others have a name; of a limit the figure says all.
std::string other_text(const std::optional<RungWay>& way) {
  if (!way) return "-";
  return figure_of(*way) + behind(name_of_way(way->contender)) + behind(order_of(*way));
}

std::string table_line(const Rung& rung) {
  return fmt::format("| {}{} | {} | {} | {} | {} | {} |\n", rung.title,
                     rung.latency ? " (latency)" : "", own_text(rung), other_text(rung.peer),
                     rung.today ? fmt::format("{}, {}", short_duration(rung.today->median),
                                              name_of_way(rung.today->contender))
                                : "-",
                     rung.limit ? short_duration(rung.limit->median) : "-",
                     with_range_of(verdict_text(rung), rung));
}

std::string notes_on(const Ladder& ladder) {
  std::vector<std::string> grey;
  for (const GreyLine& line : ladder.grey) {
    grey.push_back(fmt::format("{} {}", line.name, short_duration(line.ns)));
  }
  return grey.empty() ? "" : fmt::format("The machine itself: {}.\n", fmt::join(grey, ", "));
}

std::string measured_on(const Environment& here) {
  std::vector<std::string> facts{here.machine()};
  for (const std::string& fact : {here.kernel(), here.compiler(), here.date().substr(0, 10)}) {
    if (!fact.empty()) facts.push_back(fact);
  }
  return fmt::format("{}.\n", fmt::join(facts, ", "));
}

}  // namespace

std::string ladder_markdown(const Result& result) {
  const Ladder ladder = ladder_of(result);
  if (ladder.rungs.empty()) {
    throw UserError("this result has no ladder: only an overview, as ./run makes it, has one");
  }
  std::string text = fmt::format("{}: {}.\n\n", ladder.title, sum_of(ladder));
  if (!ladder.busy.empty()) text += ladder.busy + "\n\n";
  if (!ladder.sentence.empty()) text += ladder.sentence + "\n\n";
  text += "| | this library | best other | what people write | minimal version | verdict |\n";
  text += "|---|---:|---:|---:|---:|---|\n";
  for (const Rung& rung : ladder.rungs) text += table_line(rung);
  return text + '\n' + notes_on(ladder) + measured_on(result.environment);
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "report/ladder_words.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

// Two digits below 10, then whole: 4.2, 28, 155.
std::string plain_number(double value) {
  const bool whole = value >= 9.95 || std::abs(value - std::round(value)) < 0.05;
  return fmt::format("{:.{}f}", value, whole ? 0 : 1);
}

// To two digits, and never to less than it is.
double rounded_up(double ns) {
  constexpr double error_of_the_division = 1e-9;
  const double step = std::pow(10, std::floor(std::log10(ns)) - 1);
  return std::ceil(ns / step - error_of_the_division) * step;
}

const Rung* rung_named(const std::vector<Rung>& rungs, std::string_view name) {
  const auto found = std::ranges::find(rungs, name, &Rung::name);
  return found == rungs.end() ? nullptr : &*found;
}

const Points* efficiency_of(const Row& row) {
  const auto found = row.curves.find("efficiency");
  return found == row.curves.end() || found->second.empty() ? nullptr : &found->second;
}

// Of the way that stands on the rung; where its curve is missing, of this library's best other one.
const Points* efficiency_of(const RungWay& own, const ParameterValue& width, const Result& result) {
  const Row* best = nullptr;
  for (const Row& row : result.rows) {
    if (row.scenario != "grain" || row.metric != "metg50" || row.kind != "own" ||
        value_named(row.parameters, "unit").text != "task" ||
        value_named(row.parameters, "width") != width || efficiency_of(row) == nullptr) {
      continue;
    }
    if (row.contender == own.contender) return efficiency_of(row);
    if (best == nullptr || row.median < best->median) best = &row;
  }
  return best == nullptr ? nullptr : efficiency_of(*best);
}

// Below which size a task should not be handed over alone; NaN: that cannot be told.
double least_task_ns(const Rung& task, const ParameterValue& width, const Result& result) {
  const double threads = width.number();
  if (!(threads > 1)) return NAN;
  const Points* const curve = efficiency_of(*task.own, width, result);
  // All threads together take the work and what the tasks cost, one alone takes the work only.
  if (curve == nullptr) return task.own->median * threads / (threads - 1);
  const double even =
      break_even_ns(*curve, threads).value_or(std::ranges::max_element(*curve)->first);
  // The curve was measured at another moment. A task with work costs no less than one without.
  return std::max(even, task.own->median);
}

std::string costs(const RungWay& own, const RungWay* other) {
  constexpr double told_in_ns = 9999.5;
  const bool in_ns = own.median < told_in_ns && (other == nullptr || other->median < told_in_ns);
  const auto told = [&](double ns) { return in_ns ? plain_number(ns) : plain_duration(ns); };
  const std::string here = fmt::format("{}{} here", told(own.median), in_ns ? " ns" : "");
  return other == nullptr ? here
                          : fmt::format("{}, {} in {}", here, told(other->median),
                                        name_of_way(other->contender));
}

// One kind of disturbance: in how many of the blocks that were watched, and how much.
struct Seen {
  std::vector<double> cpus;

  [[nodiscard]] std::string text(const char* who, int of_cpus, std::size_t watched) const {
    const std::string all = of_cpus > 0 ? fmt::format("{} CPUs", of_cpus) : "the CPUs";
    const std::string said = fmt::format("{} took {:.1f} of {}", who, median(cpus), all);
    return cpus.size() == watched
               ? said + '.'
               : fmt::format("{} in {} of {} measurements.", said, cpus.size(), watched);
  }
};

}  // namespace

std::string plain_duration(double ns) { return duration_text(ns, plain_number); }

std::optional<double> break_even_ns(Points efficiency, double width) {
  std::ranges::sort(efficiency);
  std::erase_if(efficiency, [](const auto& point) { return !(point.first > 0); });
  const auto pays = [&](std::size_t i) {
    return i >= efficiency.size() || efficiency[i].second * width >= 1;
  };
  std::size_t i = 0;
  while (i < efficiency.size() && !(pays(i) && pays(i + 1))) ++i;
  if (i == efficiency.size()) return {};
  const auto [size, high] = efficiency[i];
  if (i == 0) return size;
  const auto [smaller, low] = efficiency[i - 1];
  return smaller * std::pow(size / smaller, (1 / width - low) / (high - low));
}

std::string sentence_of(const std::vector<Rung>& rungs, const Result& result) {
  const Rung* const task = rung_named(rungs, "task");
  if (task == nullptr || !task->own) return {};
  const RungWay* other = task->peer ? &*task->peer : nullptr;
  std::string text = fmt::format("On this machine a task costs {}", costs(*task->own, other));
  const ParameterValue width = value_named(task->parameters, "width");
  const double least = least_task_ns(*task, width, result);
  if (least > 0) {
    const bool hot = value_named(task->parameters, "state").text == "hot";
    text +=
        fmt::format(". Tasks of less than {} run faster in a plain loop than on {} threads{}",
                    plain_duration(rounded_up(least)), width.text, hot ? " that are awake" : "");
  }
  return text + '.';
}

std::string title_of(const Environment& here) {
  const std::string machine = here.machine();
  std::string text = here.version().empty() ? "handoff" : "handoff " + here.version();
  return machine.empty() ? text : text + ", " + machine;
}

std::string sum_of(const Ladder& ladder) {
  std::string text;
  const auto add = [&](const char* words, Word word) {
    const std::size_t rungs = ladder.count(word);
    if (rungs > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words, rungs);
  };
  add("ahead on", Word::faster);
  add("level on", Word::about_equal);
  add("behind on", Word::slower);
  add("not known on", Word::not_known);
  return text.empty() ? "nothing to compare with" : text;
}

std::string busy_of(const Result& result) {
  Seen foreign;
  Seen stolen;
  std::map<std::string, std::size_t> others;
  std::size_t watched = 0;
  const int cpus = result.environment.width();
  for (const std::optional<BlockReport>& block : result.blocks) {
    if (!block) continue;
    ++watched;
    const Disturbance& seen = block->seen;
    // A block that others left alone has no reason; how much they took is only told where it is no
    // matter of the counters' resolution.
    const double most = (seen.reason.empty() ? 2 : 1) * most_cpus_for_others(cpus);
    if (seen.reason.empty() && seen.foreign_cpus <= most) continue;
    if (seen.foreign_cpus > most) {
      foreign.cpus.push_back(seen.foreign_cpus);
    } else if (seen.stolen_cpus > most) {
      stolen.cpus.push_back(seen.stolen_cpus);
    } else {
      ++others[seen.reason];
    }
  }
  if (!foreign.cpus.empty()) return foreign.text("Other programs", cpus, watched);
  if (!stolen.cpus.empty()) return stolen.text("The host", cpus, watched);
  if (others.empty()) return {};
  const auto& [reason, times] = *std::ranges::max_element(
      others, [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = fmt::format("{} in {} of {} measurements.", reason, times, watched);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string verdict_with_peer(const Rung& rung) {
  if (!rung.own) return "not measured";
  const std::string text = verdict_text(rung);
  if (!rung.peer) return text;
  switch (rung.answer ? rung.answer->word : Word::not_known) {
    case Word::faster:
    case Word::slower: return fmt::format("{} than {}", text, signed_name(*rung.peer));
    case Word::about_equal: return fmt::format("{} to {}", text, signed_name(*rung.peer));
    case Word::not_known: break;
  }
  return fmt::format("{}: {}", signed_name(*rung.peer), text);
}

std::string with_range_of(const std::string& text, const Rung& rung) {
  const std::string range = range_text(rung);
  return range.empty() ? text : text + ' ' + range;
}

std::string with_figure(const RungWay& way) {
  return fmt::format("{} {}", signed_name(way), short_duration(way.median));
}

std::string order_of(const RungWay& way) {
  if (way.order == "per producer") return "order per producer";
  return way.order == "none" ? "no order" : "";
}

std::string sign_of(const RungWay& way) {
  constexpr const char* dagger = "\u2020";
  constexpr const char* double_dagger = "\u2021";
  if (order_of(way).empty()) return {};
  return way.order == "none" ? double_dagger : dagger;
}

std::string signed_name(const RungWay& way) { return name_of_way(way.contender) + sign_of(way); }

std::vector<const RungWay*> beside_the_best(const Rung& rung) {
  std::vector<const RungWay*> ways;
  for (const RungWay& way : rung.named) {
    const bool best = (rung.peer && way.contender == rung.peer->contender) ||
                      (rung.own && way.contender == rung.own->contender);
    if (!best) ways.push_back(&way);
  }
  return ways;
}

std::string interval_of(const RungWay& way) {
  return interval_text(way.low, way.high, short_duration);
}

std::string clause_of(const Rung& rung) {
  std::string text = rung.title + ": ";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  const auto order = [](const RungWay& way) {
    return order_of(way).empty() ? "" : fmt::format(" ({})", order_of(way));
  };
  text += rung.own ? short_duration(rung.own->median) + " here" + order(*rung.own)
                   : "not measured here";
  const auto add = [&](const RungWay& way) {
    text += fmt::format(", {} in {}{}", short_duration(way.median), name_of_way(way.contender),
                        order(way));
  };
  if (rung.peer) add(*rung.peer);
  for (const RungWay* way : beside_the_best(rung)) add(*way);
  if (rung.own) text += ", " + with_range_of(verdict_text(rung), rung);
  return text + ".";
}

std::string ladder_in_words(const Ladder& ladder) {
  std::string text = fmt::format("{}: {}.", ladder.title, sum_of(ladder));
  if (!ladder.busy.empty()) text += " " + ladder.busy;
  if (!ladder.sentence.empty()) text += " " + ladder.sentence;
  for (const Rung& rung : ladder.rungs) text += " " + clause_of(rung);
  return text;
}

const char* tone_of(const Rung& rung) {
  if (!rung.answer) return "";
  switch (rung.answer->word) {
    case Word::faster: return "good";
    case Word::slower: return "bad";
    case Word::about_equal: return "told";
    case Word::not_known: break;
  }
  return "";
}

}  // namespace handoff::lab

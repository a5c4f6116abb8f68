// SPDX-License-Identifier: MIT
#include "report/advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "harness/statistics.hpp"
#include "report/columns.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

using Wanted = std::vector<std::pair<const char*, ParameterValue>>;

// Of several rows of one contender the last one measured counts.
using ByContender = std::map<std::string, const Row*>;

bool is_a_way(const Row& row) { return row.kind == "own" || row.kind == "peer"; }

bool has(const Row& row, const Wanted& parameters) {
  return std::all_of(parameters.begin(), parameters.end(), [&](const auto& wanted) {
    return value_named(row.parameters, wanted.first) == wanted.second;
  });
}

class Rows {
 public:
  explicit Rows(const Results& results) {
    for (const Result* result : results) {
      for (const Row& row : result->rows) {
        if (row.is_measured()) rows_.push_back(&row);
        if (is_broken(row.status)) broken_.push_back(&row);
      }
    }
  }

  [[nodiscard]] std::vector<const Row*> of(const char* metric, const Wanted& wanted) const {
    std::vector<const Row*> found;
    for (const Row* row : rows_) {
      if (row->metric == metric && has(*row, wanted)) found.push_back(row);
    }
    return found;
  }
  [[nodiscard]] ByContender ways(const char* metric, const Wanted& wanted) const {
    ByContender found;
    for (const Row* row : of(metric, wanted)) {
      if (is_a_way(*row)) found[row->contender] = row;
    }
    return found;
  }
  // Ways without a figure, since they answered wrongly or broke.
  [[nodiscard]] ByContender broken(const char* metric, const Wanted& wanted) const {
    ByContender found;
    for (const Row* row : broken_) {
      if (row->metric == metric && has(*row, wanted) && is_a_way(*row)) found[row->contender] = row;
    }
    return found;
  }
  // A contender's median, or NaN.
  [[nodiscard]] double median_of(const std::string& contender, const char* metric,
                                 const Wanted& wanted) const {
    double median = std::numeric_limits<double>::quiet_NaN();
    for (const Row* row : of(metric, wanted)) {
      if (row->contender == contender) median = row->median;
    }
    return median;
  }

 private:
  std::vector<const Row*> rows_;
  std::vector<const Row*> broken_;
};

// y at x, between the points' own, which are sorted by x; beyond them the outermost.
double between(const Points& points, double x) {
  const auto above = std::upper_bound(points.begin(), points.end(), std::pair(x, HUGE_VAL));
  if (above == points.begin()) return points.front().second;
  if (above == points.end()) return points.back().second;
  const auto [x0, y0] = *(above - 1);
  return y0 + (above->second - y0) * (x - x0) / (above->first - x0);
}

// What a task of this size takes of the threads' time together, divided by their number.
double ns_by_curve(const Row& row, double task_ns, double width) {
  Points times;  // of a task, by its size
  for (const auto& [size, efficiency] : row.curves.at("efficiency")) {
    if (size > 0 && efficiency > 0) times.emplace_back(size, size / (efficiency * width));
  }
  std::sort(times.begin(), times.end());
  if (times.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto [largest, slowest] = times.back();
  return task_ns > largest ? task_ns * slowest / largest : between(times, task_ns);
}

bool has_curve(const Row& row) { return row.curves.contains("efficiency"); }

class Adviser {
 public:
  Adviser(const Question& question, const Results& results) : question_(question), rows_(results) {}

  Advice advice() {
    choose_width();
    const ByContender candidates = rows_.ways(metric(), work());
    const ByContender idle = rows_.ways("idle_cpu", at_width());
    if (candidates.empty()) miss(scenario(), metric(), work());
    if (question_.idle_percent && idle.empty()) miss("tasks", "idle_cpu", at_width());
    if (!advice_.missing.empty()) return std::move(advice_);
    const double all = static_cast<double>(question_.count) * question_.task_ns;
    advice_.ways.push_back({"here", "no hand-over: the thread that has the work does it", all,
                            all / static_cast<double>(question_.count),
                            std::numeric_limits<double>::quiet_NaN(), "", ""});
    for (const auto& [name, row] : candidates) consider(name, *row, idle);
    for (const auto& [name, row] : rows_.broken(metric(), work())) {
      if (!candidates.contains(name)) advice_.left_out.emplace_back(name, row->state());
    }
    std::stable_sort(advice_.ways.begin(), advice_.ways.end(),
                     [](const Way& a, const Way& b) { return a.ns < b.ns; });
    return std::move(advice_);
  }

 private:
  [[nodiscard]] const char* scenario() const { return question_.nested ? "forkjoin" : "grain"; }
  [[nodiscard]] const char* metric() const { return question_.nested ? "ns_per_fork" : "metg50"; }
  // The cells that tell about the work.
  [[nodiscard]] Wanted work() const {
    Wanted wanted = at_width();
    if (!question_.nested) {
      wanted.push_back({"unit", ParameterValue{question_.by_index ? "index" : "task"}});
    }
    return wanted;
  }
  [[nodiscard]] Wanted at_width() const { return {{"width", ParameterValue::of(advice_.width)}}; }

  void choose_width() {
    advice_.width = question_.width.value_or(0);
    if (question_.width) return;
    for (const Row* row : rows_.of(metric(), {})) {
      const auto width = value_named(row->parameters, "width").whole();
      if (is_a_way(*row) && width) advice_.width = std::max(advice_.width, *width);
    }
  }

  void miss(const char* scenario, const char* metric, const Wanted& cell) {
    Missing missing{scenario, metric, {}};
    for (const auto& [name, value] : cell) {
      if (value == ParameterValue::of(0)) continue;  // no width asked for, and none measured
      missing.parameters[name] = value;
    }
    advice_.missing.push_back(std::move(missing));
  }

  void consider(const std::string& name, const Row& row, const ByContender& idle) {
    std::string why = why_not(name, idle);
    if (why.empty() && !question_.nested && !has_curve(row)) why = "its row has no curve";
    if (!why.empty()) {
      advice_.left_out.emplace_back(name, why);
      return;
    }
    const double ping_us = rows_.median_of(name, "ping", at_width());
    const double ns = ns_of(name, row);
    advice_.ways.push_back({name, call_of(name), ns, ns / static_cast<double>(question_.count),
                            ping_us * 1e3,
                            fmt::format("{} {}", scenario(), text_of(row.parameters)),
                            row.status == RowStatus::ok ? "" : row.state()});
  }

  // What rules it out, or nothing.
  [[nodiscard]] std::string why_not(const std::string& name, const ByContender& idle) const {
    const bool keeps_order =
        name == "own.pool.fixed" || name == "own.pool.cached" || name == "peer.bs_thread_pool";
    if (question_.in_order && (question_.by_index || question_.nested || !keeps_order)) {
      return "promises no order";
    }
    if (!question_.idle_percent) return {};
    const auto row = idle.find(name);
    if (row == idle.end()) return "its cost when idle was not measured";
    const double percent = row->second->median;
    if (percent <= *question_.idle_percent) return {};
    return fmt::format("takes {} % of a CPU when idle", short_number(percent));
  }

  [[nodiscard]] double ns_of(const std::string& name, const Row& row) const {
    const double each = question_.nested ? ns_of_fork(name) : ns_of_task(name, row);
    const auto rounds = static_cast<double>((question_.count + advice_.width - 1) / advice_.width);
    return std::max(static_cast<double>(question_.count) * each, rounds * question_.task_ns);
  }

  [[nodiscard]] double ns_of_task(const std::string& name, const Row& row) const {
    const double ns = ns_by_curve(row, question_.task_ns, static_cast<double>(advice_.width));
    return question_.by_index ? ns : std::fmax(ns, ns_of_empty_task(name));
  }

  // In batches of so many, between those measured by the logarithm; NaN where that was not
  // measured.
  [[nodiscard]] double ns_of_empty_task(const std::string& name) const {
    std::map<double, double> times;
    Wanted wanted = at_width();
    wanted.insert(wanted.end(),
                  {{"work", ParameterValue::of(0)}, {"state", ParameterValue{"hot"}}});
    for (const Row* row : rows_.of("fire_and_forget", wanted)) {
      const double count = value_named(row->parameters, "count").number();
      if (row->contender != name || std::isnan(count)) continue;
      times[std::log(count)] = row->median;
    }
    if (times.empty()) return std::numeric_limits<double>::quiet_NaN();
    return between({times.begin(), times.end()}, std::log(static_cast<double>(question_.count)));
  }

  // The middle one of the problems measured, without their own work, and then this one's.
  [[nodiscard]] double ns_of_fork(const std::string& name) const {
    const auto width = static_cast<double>(advice_.width);
    std::vector<double> costs;
    for (const Row* row : rows_.of(metric(), work())) {
      if (row->contender != name) continue;
      Wanted wanted = at_width();
      wanted.push_back({"problem", value_named(row->parameters, "problem")});
      const double serial = rows_.median_of("limit.serial", metric(), wanted);
      const double its_work = std::isnan(serial) ? 0 : serial / width;
      costs.push_back(std::max(0.0, row->median - its_work));
    }
    return median(std::move(costs)) + question_.task_ns / width;
  }

  [[nodiscard]] std::string call_of(const std::string& name) const {
    if (name == "own.thread_team") return "handoff::ThreadTeam: run()";
    constexpr std::string_view pool = "own.pool.";
    if (!name.starts_with(pool)) return {};
    const char* const call = question_.nested     ? "TaskGroup::run() and wait()"
                             : question_.by_index ? "parallel_for()"
                                                  : "post() and wait()";
    return fmt::format("handoff::ThreadPool, mode {}: {}", name.substr(pool.size()), call);
  }

  const Question& question_;
  Rows rows_;
  Advice advice_;
};

std::string text_of(const Question& question, std::uint64_t width) {
  std::string text =
      fmt::format("{} {} of {}", question.count, question.by_index ? "indices" : "tasks",
                  short_duration(question.task_ns));
  if (question.nested) text += ", which hand over tasks and wait for them";
  if (question.in_order) text += ", begun in order";
  if (question.idle_percent) {
    text += fmt::format(", at most {} % of a CPU when idle", *question.idle_percent);
  }
  return text + fmt::format("; {} threads", width);
}

// Beside the name, where there is something to say.
std::string line_of(const char* word, const Way& way) {
  return fmt::format("{:<6}{}{}{}: {} in all, {} each\n", word, way.name,
                     way.call.empty() ? "" : ", ", way.call, short_duration(way.ns),
                     short_duration(way.ns_per_task));
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

Advice advice_on(const Question& question, const Results& results) {
  return Adviser(question, results).advice();
}

std::string advice_text(const Question& question, const Advice& advice, bool styled) {
  std::string text = heading(text_of(question, advice.width), styled);
  text += line_of("take", advice.ways.front());
  if (advice.ways.size() > 1) text += line_of("else", advice.ways[1]);
  text += '\n';
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

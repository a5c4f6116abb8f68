// SPDX-License-Identifier: MIT
#include "report/advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "harness/statistics.hpp"
#include "report/view.hpp"
#include "report/way_rows.hpp"
#include "report/way_words.hpp"

namespace handoff::lab {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Nearer than that to the best, a way is as good: no measurement tells more.
constexpr double kAsGood = 1.02;

// y at x, between the points' own, which are sorted by x; beyond them the outermost.
double between(const std::vector<std::pair<double, double>>& points, double x) {
  const auto above = std::upper_bound(points.begin(), points.end(), std::pair(x, HUGE_VAL));
  if (above == points.begin()) return points.front().second;
  if (above == points.end()) return points.back().second;
  const auto [x0, y0] = *(above - 1);
  return y0 + (above->second - y0) * (x - x0) / (above->first - x0);
}

// A question of some other amount.
Question with(Question question, Crossing::Of of, double amount) {
  if (of == Crossing::Of::piece) question.task_ns = amount;
  if (of == Crossing::Of::bytes) question.bytes = amount;
  if (of == Crossing::Of::count) question.count = static_cast<std::uint64_t>(std::round(amount));
  question.waves = std::min(question.waves, question.count);
  return question;
}

class Adviser {
 public:
  Adviser(const Question& question, const Results& results) : question_(question), rows_(results) {
    if (!is_piece() && !question_.bytes) question_.bytes = usual_bytes();
  }

  Advice advice() {
    choose_width();
    const ToldWays told = told_ways();
    idle_ = rows_.ways("idle_cpu", at_width());
    if (told.empty()) say_what_is_missing();
    const bool asks_idle = is_piece() && question_.idle_percent && !question_.by_processes;
    if (asks_idle && idle_.empty()) miss("tasks", "idle_cpu", at_width());
    if (!advice_.missing.empty()) return std::move(advice_);
    for (const auto& [name, way] : told) consider(name, way);
    complete_models();
    if (is_piece() && !question_.by_processes) advice_.ways.insert(advice_.ways.begin(), here());
    for (const auto& [name, row] : rows_.broken(metric(), work())) {
      if (!told.contains(name)) advice_.left_out.emplace_back(name, row->state());
    }
    for (Way& way : advice_.ways) price(way);
    std::stable_sort(advice_.ways.begin(), advice_.ways.end(),
                     [](const Way& a, const Way& b) { return a.ns < b.ns; });
    if (advice_.ways.empty()) return std::move(advice_);
    look_for_changes();
    say_how_sure();
    return std::move(advice_);
  }

 private:
  [[nodiscard]] bool is_piece() const { return question_.unit == Unit::piece; }
  [[nodiscard]] double usual_bytes() const {
    if (question_.unit == Unit::event) return 64;
    return question_.unit == Unit::file ? 4096 : 72;
  }
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
    if (question_.width || !is_piece()) return;
    for (const char* metric : {this->metric(), "time", "claim"}) {
      for (const Row* row : rows_.of(metric, {})) {
        const bool counts = std::string_view(metric) != "claim" || question_.by_processes;
        const auto width = value_named(row->parameters, "width").whole();
        if (counts && is_row_of_a_way(*row) && width) {
          advice_.width = std::max(advice_.width, *width);
        }
      }
      if (advice_.width != 0) return;
    }
    if (question_.by_processes) advice_.width = 2;  // what `spawn` has, whose jobs name none
  }

  // Those of processes are beside the others, which are what is asked for.
  [[nodiscard]] ToldWays told_ways() const {
    if (!is_piece()) return ways_of_others(rows_, question_);
    ToldWays by_processes = ways_of_processes(rows_, question_, advice_.width);
    if (question_.by_processes) return by_processes;
    ToldWays ways = ways_of_loads(rows_, question_, advice_.width);
    if (ways.empty()) ways = ways_of_pieces(rows_, question_, at_width());
    if (!ways.empty()) ways.merge(by_processes);
    return ways;
  }

  void say_what_is_missing() {
    if (!is_piece()) {
      advice_.missing = missing_of_others(question_);
    } else if (question_.by_processes) {
      advice_.missing = missing_of_processes(question_, std::max<std::uint64_t>(advice_.width, 1));
    } else {
      miss(scenario(), metric(), work());
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

  void consider(const std::string& name, const ToldWay& told) {
    std::string why = fault_of_way(name, told.row->order, question_);
    if (why.empty()) why = why_too_busy(name);
    if (why.empty() && told.cells.empty()) why = "its row has no curve";
    if (!why.empty()) {
      advice_.left_out.emplace_back(name, why);
      return;
    }
    Way way;
    way.name = name;
    way.call = call_of_way(name, question_);
    way.code = code_of_way(name, question_);
    way.after_idle_ns = is_piece() ? rows_.median_of(name, "ping", at_width()) * 1e3 : kUnknown;
    way.source = fmt::format("{} {}", told.row->scenario, text_of(told.row->parameters));
    way.reservation = told.row->status == RowStatus::ok ? "" : told.row->state();
    way.model = fitted_to(told.cells);
    advice_.ways.push_back(std::move(way));
  }

  // What it takes when idle, or nothing. Of others than pieces the rows are those of what sleeps.
  [[nodiscard]] std::string why_too_busy(const std::string& name) const {
    if (!question_.idle_percent || !is_piece() || question_.by_processes) return {};
    const auto row = idle_.find(name);
    if (row == idle_.end()) return "its cost when idle was not measured";
    const double percent = row->second->median;
    if (percent <= *question_.idle_percent) return {};
    return fmt::format("takes {} % of a CPU when idle", short_number(percent));
  }

  // What the rows of a way do not tell is as with the others, or as it must be at least.
  void complete_models() {
    std::vector<double> shared;
    for (const Way& way : advice_.ways) {
      if (way.model.tells(Term::work)) shared.push_back(way.model[Term::work]);
    }
    const double usual = shared.empty() || !is_piece() ? 1 : std::max(1.0, median(shared));
    for (Way& way : advice_.ways) {
      if (!way.model.tells(Term::work)) way.model[Term::work] = usual;
      if (!way.model.tells(Term::memory)) way.model[Term::memory] = way.model[Term::work];
      const bool sleeps = question_.waves > 1 || question_.for_latency;
      if (is_piece() && sleeps && !way.model.tells(Term::wake) && way.reservation.empty()) {
        way.reservation = "without its wake-up, which was not measured";
      }
    }
  }

  [[nodiscard]] Way here() const {
    Way way;
    way.name = "here";
    way.call = "no hand-over: the thread that has the work does it";
    way.code = code_of_way(way.name, question_);
    way.after_idle_ns = kUnknown;
    return way;
  }

  void price(Way& way) const {
    const bool one = question_.for_latency && !is_piece();
    const auto items = one ? 1.0 : static_cast<double>(question_.count);
    way.ns = ns_of(way, question_);
    way.ns_per_task = way.ns / items;
  }

  [[nodiscard]] double ns_of(const Way& way, const Question& question) const {
    const auto count = static_cast<double>(question.count);
    if (way.name == "here") return count * question.task_ns;
    if (is_piece()) {
      // No way is faster than its largest piece.
      const double ns = std::max(way.model.ns_of(amounts_of(question, advice_.width)),
                                 question.largest * question.task_ns);
      const bool is_task = !question.by_index && !question.nested;
      return is_task ? std::fmax(ns, count * ns_of_empty_task(way.name, count)) : ns;
    }
    // One thread handles them, and its work comes on top.
    Question one_by_one = question;
    if (question.for_latency) one_by_one.count = 1;
    Terms amounts = amounts_of(one_by_one, 1);
    const bool sleeps = question.for_latency && question.idle_percent;
    amounts[static_cast<std::size_t>(Term::wake)] = sleeps ? 1 : 0;
    return way.model.ns_of(amounts);
  }

  // In batches of so many, between those measured by the logarithm; NaN where that was not
  // measured.
  [[nodiscard]] double ns_of_empty_task(const std::string& name, double count) const {
    std::map<double, double> times;
    Wanted wanted = at_width();
    wanted.insert(wanted.end(),
                  {{"work", ParameterValue::of(0)}, {"state", ParameterValue{"hot"}}});
    for (const Row* row : rows_.of("fire_and_forget", wanted)) {
      const double measured = value_named(row->parameters, "count").number();
      if (row->contender != name || std::isnan(measured)) continue;
      times[std::log(measured)] = row->median;
    }
    if (times.empty()) return kUnknown;
    return between({times.begin(), times.end()}, std::log(count));
  }

  [[nodiscard]] const Way& best_of(const Question& question) const {
    return *std::min_element(
        advice_.ways.begin(), advice_.ways.end(),
        [&](const Way& a, const Way& b) { return ns_of(a, question) < ns_of(b, question); });
  }

  // Whether another way would be better there, by enough.
  [[nodiscard]] const Way* better_at(Crossing::Of of, double amount) const {
    const Question there = with(question_, of, amount);
    const Way& best = best_of(there);
    const bool is_other = best.name != advice_.ways.front().name;
    const bool enough = ns_of(advice_.ways.front(), there) > kAsGood * ns_of(best, there);
    return is_other && enough ? &best : nullptr;
  }

  void look_for_changes() {
    if (advice_.ways.size() < 2) return;
    const bool has_bytes = !is_piece() && question_.unit != Unit::command;
    if (question_.task_ns > 0 && is_piece()) {
      look_along(Crossing::Of::piece, question_.task_ns, 1, 1e9);
    }
    if (is_piece() || question_.unit == Unit::file) {
      look_along(Crossing::Of::count, static_cast<double>(question_.count), 1, 1e9);
    }
    if (has_bytes) look_along(Crossing::Of::bytes, *question_.bytes, 8, 1e9);
  }

  void look_along(Crossing::Of of, double from, double least, double most) {
    constexpr double step = 1.2;
    for (const bool above : {false, true}) {
      double same = from;
      for (double at = from; at >= least && at <= most; at = above ? at * step : at / step) {
        const Way* const way = better_at(of, at);
        if (way == nullptr) {
          same = at;
          continue;
        }
        if (at != from) advice_.changes.push_back(crossing(of, above, same, at));
        break;
      }
    }
  }

  // Between an amount at which nothing changes and one at which something has.
  [[nodiscard]] Crossing crossing(Crossing::Of of, bool above, double same, double other) const {
    for (int i = 0; i < 20; ++i) {
      const double middle = std::sqrt(same * other);
      (better_at(of, middle) == nullptr ? same : other) = middle;
    }
    return {of, above, other, better_at(of, other)->name};
  }

  void say_how_sure() {
    const Way& best = advice_.ways.front();
    for (const Way& way : advice_.ways) {
      const double error = std::fmax(best.model.median_error, way.model.median_error);
      const double margin = std::fmax(kAsGood, 1 + (std::isnan(error) ? 0 : error));
      if (&way != &best && way.ns <= margin * best.ns) advice_.as_good.push_back(way.name);
    }
    if (best.model.is_unsure()) {
      advice_.unsure = fmt::format("half of the cells held out are off by {:.0f} % and more",
                                   100 * best.model.median_error);
    } else if (question_.by_memory && best.name != "here" && !best.model.tells(Term::memory)) {
      advice_.unsure = "no row tells how work that memory bounds is shared out";
    }
  }

  Question question_;
  MeasuredRows rows_;
  ByContender idle_;
  Advice advice_;
};

}  // namespace

Advice advice_on(const Question& question, const Results& results) {
  return Adviser(question, results).advice();
}

}  // namespace handoff::lab

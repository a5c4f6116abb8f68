// SPDX-License-Identifier: MIT
#include "report/advice.hpp"
#include "report/view.hpp"
#include "report/way_rows.hpp"
#include "report/way_words.hpp"

namespace handoff::lab {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Ways that are nearer to each other than that are equal: no measurement tells more.
constexpr double kEqual = 1.02;

// y at x, between the points' own, which are sorted by x; beyond them the outermost.
double between(const std::vector<std::pair<double, double>>& points, double x) {
  const auto above = std::ranges::upper_bound(points, std::pair(x, HUGE_VAL));
  if (above == points.begin()) return points.front().second;
  if (above == points.end()) return points.back().second;
  const auto [x0, y0] = *(above - 1);
  return y0 + (above->second - y0) * (x - x0) / (above->first - x0);
}

// A time and its range.
struct Price {
  double low;
  double ns;
  double high;

  [[nodiscard]] bool is_near(const Price& other) const {
    return std::max(ns, other.ns) <= kEqual * std::min(ns, other.ns);
  }
  [[nodiscard]] bool equals(const Price& other) const {
    return is_near(other) || (std::fmin(low, ns) <= std::fmax(other.high, other.ns) &&
                              std::fmin(other.low, other.ns) <= std::fmax(high, ns));
  }
};

enum class End : std::uint8_t { low, middle, high };

double factor_of(const RelativeRange& range, End end) {
  return end == End::middle ? 1 : end == End::low ? range.low : range.high;
}

// The least is the simplest to own. Memory counts by steps of a tenth.
auto upkeep_of(const Way& way) {
  const double memory = std::isnan(way.memory_bytes) ? HUGE_VAL : way.memory_bytes;
  return std::tuple(way.name != "here", !way.is_own, way.has_processes, !way.is_asleep(),
                    std::round(std::log(memory) / std::log(1.1)));
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
    find_empty_tasks();
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
    if (advice_.ways.empty()) return std::move(advice_);
    put_in_order();
    look_for_changes();
    say_what_no_row_tells();
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
    ToldWays with_curves = ways_of_pieces(rows_, question_, at_width());
    // A curve is of equal pieces that compute, all at once.
    const bool curves_tell =
        !question_.nested && !question_.by_memory && question_.waves == 1 && question_.largest == 1;
    std::erase_if(ways, [&](const auto& way) {
      const auto found = with_curves.find(way.first);
      return curves_tell && found != with_curves.end() &&
             found->second.curve.spans(question_.task_ns);
    });
    ways.merge(with_curves);
    if (!ways.empty()) ways.merge(by_processes);
    return ways;
  }

  void find_empty_tasks() {
    Wanted wanted = at_width();
    wanted.insert(wanted.end(),
                  {{"work", ParameterValue::of(0)}, {"state", ParameterValue{"hot"}}});
    for (const Row* row : rows_.of("fire_and_forget", wanted)) {
      const double count = value_named(row->parameters, "count").number();
      if (count > 0) empty_tasks_[row->contender][count] = row;
    }
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
    if (why.empty() && told.cells.empty() && told.curve.empty()) why = "its row has no curve";
    if (!why.empty()) {
      advice_.left_out.emplace_back(name, why);
      return;
    }
    Way way;
    way.name = name;
    way.call = call_of_way(name, question_);
    way.code = code_of_way(name, question_);
    way.after_idle_ns = is_piece() ? rows_.median_of(name, "ping", at_width()) * 1e3 : kUnknown;
    const Row& row = *told.row;
    way.source = fmt::format("{} {}", row.scenario, text_of(row.parameters));
    way.reservation = row.status == RowStatus::ok ? "" : row.state();
    way.model = fitted_to(told.cells);
    way.method = fmt::format("a model of {} measured {}{}", way.model.fitted,
                             way.model.fitted == 1 ? "cell" : "cells",
                             way.model.is_held_out() ? ", half of them in the range" : "");
    if (!told.curve.empty()) {
      way.curve = told.curve;
      way.overhead = range_of(row);
      way.method = fmt::format("the measured curve{}, {} sizes",
                               way.curve.spans(question_.task_ns) ? "" : " beyond its end",
                               way.curve.sizes());
    }
    way.is_own = row.kind == "own";
    way.has_processes = row.scenario == "spawn";
    const auto idle = idle_.find(name);
    if (idle != idle_.end()) way.idle_percent = idle->second->median;
    way.memory_bytes = row.peak_memory_bytes;
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
    const double usual = shared.empty() ? 1 : std::max(1.0, median(shared));
    for (Way& way : advice_.ways) {
      const bool is_usual = way.curve.empty() && is_piece();
      if (!way.model.tells(Term::work)) way.model[Term::work] = is_usual ? usual : 1;
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
    way.idle_percent = way.memory_bytes = 0;
    return way;
  }

  // What a piece takes beyond its share of the work.
  [[nodiscard]] double overhead_of(const Way& way, double piece_ns, End end) const {
    const auto width = static_cast<double>(advice_.width);
    const double share = piece_ns / width;
    const double ns = way.curve.ns_of(piece_ns, width);
    const double error = way.curve.error_at(piece_ns);
    const double over = std::max(0.0, ns - share);
    if (end == End::middle) return over;
    if (end == End::low) {  // NaN stays
      return std::max(std::fmin(ns / (1 + error) - share, over * way.overhead.low), 0.0);
    }
    return std::fmax(ns * (1 + error) - share, over * way.overhead.high);
  }

  [[nodiscard]] double ns_of(const Way& way, const Question& question, End end) const {
    const auto count = static_cast<double>(question.count);
    if (way.name == "here") return count * question.task_ns;
    Terms amounts = amounts_of_all(question);
    double ns = 0;
    for (const Term term : {Term::work, Term::memory}) {  // untold, they have no range
      double& amount = amounts[static_cast<std::size_t>(term)];
      if (way.model.tells(term)) continue;
      ns += std::exchange(amount, 0) * way.model[term];
    }
    const double modelled = way.model.ns_of(amounts);
    if (modelled > 0) ns += modelled * factor_of(way.model.range, end);
    if (!is_piece()) return ns;
    if (!way.curve.empty()) ns += count * overhead_of(way, question.task_ns, end);
    const bool is_task = !question.by_index && !question.nested;
    if (is_task) ns = std::max(ns, count * ns_of_empty_task(way.name, count, end));
    return std::max({ns, count * question.task_ns / static_cast<double>(advice_.width),
                     question.largest * question.task_ns});
  }

  [[nodiscard]] Terms amounts_of_all(const Question& question) const {
    if (is_piece()) return amounts_of(question, advice_.width);
    // One thread handles them, and its work comes on top.
    Question one_by_one = question;
    if (question.for_latency) one_by_one.count = 1;
    Terms amounts = amounts_of(one_by_one, 1);
    const bool sleeps = question.for_latency && question.idle_percent;
    amounts[static_cast<std::size_t>(Term::wake)] = sleeps ? 1 : 0;
    return amounts;
  }

  [[nodiscard]] Price price_of(const Way& way, const Question& question) const {
    const double low = ns_of(way, question, End::low);
    const double ns = ns_of(way, question, End::middle);
    const double high = ns_of(way, question, End::high);
    return {low > ns ? ns : low, ns, high < ns ? ns : high};  // NaN stays
  }

  // In batches of so many, between those measured by the logarithm; 0 where that was not measured.
  [[nodiscard]] double ns_of_empty_task(const std::string& name, double count, End end) const {
    const auto rows = empty_tasks_.find(name);
    if (rows == empty_tasks_.end()) return 0;
    std::vector<std::pair<double, double>> times;
    for (const auto& [measured, row] : rows->second) {
      const double factor = factor_of(range_of(*row), end);
      times.emplace_back(std::log(measured), row->median * (std::isnan(factor) ? 1 : factor));
    }
    return between(times, std::log(count));
  }

  using Priced = std::vector<std::pair<Way*, Price>>;

  [[nodiscard]] Priced priced(const Question& question) {
    Priced all;
    for (Way& way : advice_.ways) all.emplace_back(&way, price_of(way, question));
    std::ranges::stable_sort(
        all, [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
    return all;
  }

  // Of those that are equal to the fastest one: what is simplest to own. But no other library's way
  // that is equal to one of this library; and work stays where it is only if nothing promises more.
  [[nodiscard]] static Priced::const_iterator best_of(const Priced& ways) {
    const auto is_beside_own = [&](const auto& way) {
      return std::ranges::any_of(ways, [&](const auto& other) {
        return other.first->is_own && other.first->name != "here" &&
               other.second.equals(way.second);
      });
    };
    auto best = ways.end();
    for (auto way = ways.begin(); way != ways.end(); ++way) {
      const Price& fastest = ways.front().second;
      const bool is_here = way->first->name == "here";
      if (!(is_here ? way->second.is_near(fastest) : way->second.equals(fastest))) continue;
      if (!way->first->is_own && is_beside_own(*way)) continue;
      const bool is_simpler =
          best == ways.end() || upkeep_of(*way->first) < upkeep_of(*best->first);
      if (is_simpler) best = way;
    }
    return best;
  }

  void put_in_order() {
    Priced left = priced(question_);
    const Price fastest = left.front().second;
    std::vector<Way> ordered;
    while (!left.empty()) {
      const auto best = best_of(left);
      Way& way = *best->first;
      const Price& price = best->second;
      way.low_ns = price.low;
      way.ns = price.ns;
      way.high_ns = price.high;
      const bool one = question_.for_latency && !is_piece();
      way.ns_per_task = way.ns / (one ? 1.0 : static_cast<double>(question_.count));
      if (!ordered.empty() && price.equals(fastest)) advice_.equal.push_back(way.name);
      ordered.push_back(std::move(way));
      left.erase(best);
    }
    advice_.ways = std::move(ordered);
  }

  // The way that would be better there than the first one, if somebody can tell.
  [[nodiscard]] const Way* better_at(Crossing::Of of, double amount) {
    const Question there = with(question_, of, amount);
    const Priced all = priced(there);
    const Way& first = advice_.ways.front();
    const bool is_as_good = price_of(first, there).equals(all.front().second);
    return is_as_good ? nullptr : best_of(all)->first;
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
  [[nodiscard]] Crossing crossing(Crossing::Of of, bool above, double same, double other) {
    for (int i = 0; i < 20; ++i) {
      const double middle = std::sqrt(same * other);
      (better_at(of, middle) == nullptr ? same : other) = middle;
    }
    return {of, above, other, better_at(of, other)->name};
  }

  void say_what_no_row_tells() {
    const Way& best = advice_.ways.front();
    if (question_.by_memory && best.name != "here" && !best.model.tells(Term::memory)) {
      advice_.unsure = "no row shows how fast threads share work that memory limits";
    }
  }

  Question question_;
  MeasuredRows rows_;
  ByContender idle_;
  std::map<std::string, std::map<double, const Row*>> empty_tasks_;  // by their number
  Advice advice_;
};

}  // namespace

Advice advice_on(const Question& question, const Results& results) {
  return Adviser(question, results).advice();
}

}  // namespace handoff::lab

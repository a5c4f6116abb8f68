// SPDX-License-Identifier: MIT
// `handoff check-advice`: whether advice holds, on loads drawn at random whose rows it has not
// seen.
#include "commands/commands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "commands/output.hpp"
#include "harness/statistics.hpp"
#include "harness/user_error.hpp"
#include "report/advice.hpp"
#include "report/json.hpp"
#include "report/view.hpp"
#include "report/way_rows.hpp"

namespace handoff::lab {
namespace {

// What must hold: advice costs at most so many points more than picking by one launch of the same
// load, and on no load that repeats more than so many times the best way.
constexpr double kMostBeyondOneLaunch = 0.03;
constexpr double kMostRegret = 1.5;
constexpr double kRepeats = 1.25;  // the two halves of its launches

// All rows of one load, by contender.
using LoadRows = std::map<std::string, const Row*>;
using AllLoads = std::map<ParameterValues, LoadRows>;

void add_loads(const Result& result, AllLoads& loads) {
  for (const Row& row : result.rows) {
    const bool counts = row.scenario == "loads" && row.metric == "time" && row.is_measured();
    if (counts && is_row_of_a_way(row)) loads[row.parameters][row.contender] = &row;
  }
}

using WayTimes = std::map<std::string, double>;  // by way

WayTimes way_times(const LoadRows& rows, bool (*counts)(std::size_t launch, std::size_t chosen),
                   std::size_t chosen) {
  WayTimes times;
  for (const auto& [name, row] : rows) {
    Launches some;
    for (std::size_t i = 0; i < row->launches.size(); ++i) {
      if (counts(i, chosen)) some.push_back(row->launches[i]);
    }
    if (!some.empty()) times[name] = typical(some);
  }
  return times;
}

const WayTimes::value_type& best_of(const WayTimes& times) {
  return *std::min_element(times.begin(), times.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::size_t launches_of(const LoadRows& rows) {
  std::size_t launches = rows.begin()->second->launches.size();
  for (const auto& [name, row] : rows) launches = std::min(launches, row->launches.size());
  return launches;
}

// What a load tells of advice. Regret is how many times the best way's time a pick takes.
struct Trial {
  std::string text;
  std::vector<double> regrets;           // by all launches but one
  std::vector<double> regrets_of_launch;  // the same of what is best in that one
  double regret = NAN;                   // by all launches
  bool repeats = false;
  bool is_inside = false;  // the time, in the range that advice said
};

// The first way of the advice that the load was measured with.
const Way& taken_of(const Advice& advice, const LoadRows& rows) {
  return *std::find_if(advice.ways.begin(), advice.ways.end(), [&](const Way& way) {
    return way.name == "here" || rows.contains(way.name);
  });
}

Trial trial_of(const ParameterValues& parameters, const LoadRows& rows, const Results& known) {
  const Question question = question_of_load(*rows.at("own.serial"), rows.at("own.serial")->median);
  const Advice advice = advice_on(question, known);
  if (!advice.missing.empty()) {
    throw UserError("the known rows have too few loads: " + text_of(advice.missing.front()));
  }
  const Way& way = taken_of(advice, rows);
  const std::string taken = way.name == "here" ? "own.serial" : way.name;
  Trial trial;
  for (std::size_t i = 0; i < launches_of(rows); ++i) {
    const WayTimes once =
        way_times(rows, [](std::size_t n, std::size_t one) { return n == one; }, i);
    const WayTimes again =
        way_times(rows, [](std::size_t n, std::size_t one) { return n != one; }, i);
    const double best = best_of(again).second;
    trial.regrets.push_back(again.at(taken) / best);
    trial.regrets_of_launch.push_back(again.at(best_of(once).first) / best);
  }
  const WayTimes all = way_times(rows, [](std::size_t, std::size_t) { return true; }, 0);
  const auto is_of_half = [](std::size_t n, std::size_t half) { return n % 2 == half; };
  const WayTimes one = way_times(rows, is_of_half, 0);
  const WayTimes other = way_times(rows, is_of_half, 1);
  const auto& [best, best_ns] = best_of(all);
  const auto repeats = [&](const std::string& name) {
    const double ratio = one.at(name) / other.at(name);
    return std::max(ratio, 1 / ratio) <= kRepeats;
  };
  trial.regret = all.at(taken) / best_ns;
  trial.repeats = repeats(taken) && repeats(best);
  trial.is_inside = way.low_ns <= all.at(taken) && all.at(taken) <= way.high_ns;
  trial.text = fmt::format(
      "{:.2f}x {} {}: {} of {}{}{}{}{}{}: took {}, {}; best {}, {}\n", trial.regret,
      trial.repeats ? "repeats" : "does not repeat", text_of(parameters), question.count,
      short_duration(question.task_ns), question.by_index ? " index" : "",
      question.nested ? " nested" : "", question.by_memory ? " memory" : "",
      question.waves > 1 ? fmt::format(" waves={}", question.waves) : "",
      question.largest > 1 ? fmt::format(" largest={:.1f}", question.largest) : "", taken,
      short_duration(all.at(taken)) + " where advice said " + time_text(way), best,
      short_duration(best_ns));
  return trial;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of all loads.
struct Trials {
  std::vector<double> regrets;
  std::vector<double> regrets_of_launch;
  double worst = 1;
  std::size_t repeating = 0;
  std::size_t inside = 0;
  std::size_t all = 0;

  void add(const Trial& trial) {
    regrets.push_back(mean_of(trial.regrets));
    regrets_of_launch.push_back(mean_of(trial.regrets_of_launch));
    ++all;
    inside += trial.is_inside ? 1 : 0;
    if (!trial.repeats) return;
    ++repeating;
    worst = std::max(worst, trial.regret);
  }
  [[nodiscard]] bool hold() const {
    return mean_of(regrets) <= mean_of(regrets_of_launch) + kMostBeyondOneLaunch &&
           worst <= kMostRegret;
  }
  [[nodiscard]] std::string text(std::size_t seen) const {
    return fmt::format(
        "regret {:.1f} %, picking by one launch {:.1f} %; at most {:.2f}x on {} loads that repeat; "
        "{} of {} times inside the range; advice saw {} loads\n",
        100 * (mean_of(regrets) - 1), 100 * (mean_of(regrets_of_launch) - 1), worst, repeating,
        inside, all, seen);
  }
};

}  // namespace

int check_advice(const CheckAdviceOptions& options) {
  const Result known = read_result(options.known);
  std::vector<Result> files;
  for (const auto& path : options.unseen) files.push_back(read_result(path));
  AllLoads seen;
  add_loads(known, seen);
  AllLoads loads;
  for (const Result& file : files) add_loads(file, loads);
  Trials trials;
  std::string lines;
  for (const auto& [parameters, rows] : loads) {
    if (seen.contains(parameters)) {
      throw UserError(
          fmt::format("{} is among the known rows: take another seed", text_of(parameters)));
    }
    if (!rows.contains("own.serial")) continue;
    if (launches_of(rows) < 2) {
      throw UserError(
          fmt::format("{} has a single launch: regret needs two or more", text_of(parameters)));
    }
    const Trial trial = trial_of(parameters, rows, {&known});
    trials.add(trial);
    lines += trial.text;
  }
  if (trials.all == 0) {
    throw UserError("there are no loads with a row of own.serial to try advice on");
  }
  write_text({}, trials.text(seen.size()) + (options.verbose ? lines : ""));
  return trials.hold() ? exit_code::ok : exit_code::falls_short;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "commands/check_advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "commands/output.hpp"
#include "harness/statistics.hpp"
#include "harness/user_error.hpp"
#include "report/advice.hpp"
#include "report/read_result.hpp"
#include "report/view.hpp"
#include "report/way_rows.hpp"

namespace handoff::lab {
namespace {

// What must hold of so many in a hundred loads.
constexpr double kNearBest = 1.1;
constexpr double kNearRatio = 0.2;
constexpr std::size_t kLeastNearBest = 95;
constexpr std::size_t kLeastNearRatio = 90;

// All rows of one load, by contender.
using LoadRows = std::map<std::string, const Row*>;
using AllLoads = std::map<ParameterValues, LoadRows>;

void add_loads(const Result& result, AllLoads& loads) {
  for (const Row& row : result.rows) {
    const bool counts = row.scenario == "loads" && row.metric == "time" && row.is_measured();
    if (counts && is_row_of_a_way(row)) loads[row.parameters][row.contender] = &row;
  }
}

struct Trial {
  std::string text;
  bool is_near_best = false;
  bool is_near_ratio = false;
};

Trial trial_of(const ParameterValues& parameters, const LoadRows& rows, const Results& known) {
  const Row& serial = *rows.at("own.serial");
  const Question question = question_of_load(serial, serial.median);
  const Advice advice = advice_on(question, known);
  if (!advice.missing.empty()) {
    throw UserError("the known rows have too few loads: " + text_of(advice.missing.front()));
  }
  const Way& taken = advice.ways.front();
  const auto found = rows.find(taken.name == "here" ? "own.serial" : taken.name);
  const auto best = std::min_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->median < b.second->median;
  });
  const double best_ns = best->second->median;
  const double taken_ns = found == rows.end() ? NAN : found->second->median;
  Trial trial;
  trial.is_near_best = taken_ns <= kNearBest * best_ns;
  const double predicted = taken.ns / (static_cast<double>(question.count) * question.task_ns);
  const double measured = taken_ns / serial.median;
  trial.is_near_ratio = std::abs(predicted / measured - 1) <= kNearRatio;
  trial.text = fmt::format(
      "{} {}: {} of {}{}{}{}{}{}: took {} {:.2f}x of best {}, ratio {:.3f}, said {:.3f}\n",
      trial.is_near_best ? (trial.is_near_ratio ? "ok  " : "off ") : "MISS", text_of(parameters),
      question.count, short_duration(question.task_ns), question.by_index ? " index" : "",
      question.nested ? " nested" : "", question.by_memory ? " memory" : "",
      question.waves > 1 ? fmt::format(" waves={}", question.waves) : "",
      question.largest > 1 ? fmt::format(" largest={:.1f}", question.largest) : "", taken.name,
      taken_ns / best_ns, best->first, measured, predicted);
  return trial;
}

// What measuring a load tells of measuring it once more. No advice can be better than that.
struct Repeats {
  std::size_t all = 0;
  std::size_t near_best = 0;
  std::size_t near_ratio = 0;
};

// Each launch in turn against all others: the way that was best in it, and the ratio of that.
void add_repeats(const LoadRows& rows, Repeats& repeats) {
  std::size_t launches = rows.begin()->second->launches.size();
  for (const auto& [name, row] : rows) launches = std::min(launches, row->launches.size());
  if (launches < 2) return;
  for (std::size_t i = 0; i < launches; ++i) {
    std::map<std::string, double> once;
    std::map<std::string, double> again;
    for (const auto& [name, row] : rows) {
      Launches others = row->launches;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      once[name] = typical({row->launches[i]});
      again[name] = typical(others);
    }
    const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto& [taken, ns] = *std::min_element(once.begin(), once.end(), less);
    const double best_ns = std::min_element(again.begin(), again.end(), less)->second;
    const double ratio = ns / once["own.serial"] / (again[taken] / again["own.serial"]);
    ++repeats.all;
    repeats.near_best += again[taken] <= kNearBest * best_ns ? 1 : 0;
    repeats.near_ratio += std::abs(ratio - 1) <= kNearRatio ? 1 : 0;
  }
}

std::string limit_text(const Repeats& repeats) {
  if (repeats.all == 0) return {};
  return fmt::format(
      "limit: one launch tells {} of {} picks and {} ratios of the other launches of its load\n",
      repeats.near_best, repeats.all, repeats.near_ratio);
}

}  // namespace

int check_advice(const CheckAdviceOptions& options) {
  const Result known = read_result(options.known);
  std::vector<Result> files;
  for (const auto& path : options.unseen) files.push_back(read_result(path));
  AllLoads seen;
  add_loads(known, seen);
  AllLoads loads;
  for (const Result& file : files) add_loads(file, loads);
  std::size_t near_best = 0;
  std::size_t near_ratio = 0;
  std::size_t all = 0;
  std::string lines;
  Repeats repeats;
  for (const auto& [parameters, rows] : loads) {
    if (seen.contains(parameters)) {
      throw UserError(
          fmt::format("{} is among the known rows: take another seed", text_of(parameters)));
    }
    if (!rows.contains("own.serial")) continue;
    const Trial trial = trial_of(parameters, rows, {&known});
    ++all;
    near_best += trial.is_near_best ? 1 : 0;
    near_ratio += trial.is_near_ratio ? 1 : 0;
    lines += trial.text;
    add_repeats(rows, repeats);
  }
  if (all == 0) throw UserError("there are no loads with a row of own.serial to try advice on");
  std::string text = fmt::format(
      "{} of {} picks within 10 % of the best, {} ratios within 20 %; advice saw {} loads\n",
      near_best, all, near_ratio, seen.size());
  text += limit_text(repeats);
  if (options.verbose) text += lines;
  write_text({}, text);
  const bool holds =
      near_best * 100 >= kLeastNearBest * all && near_ratio * 100 >= kLeastNearRatio * all;
  return holds ? exit_code::ok : exit_code::falls_short;
}

}  // namespace handoff::lab

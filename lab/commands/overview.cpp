// SPDX-License-Identifier: MIT
#include "commands/overview.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/calibration.hpp"
#include "harness/preemption.hpp"
#include "harness/rung_order.hpp"
#include "harness/rungs.hpp"
#include "harness/user_error.hpp"
#include "harness/verdict.hpp"
#include "report/finished_row.hpp"

namespace handoff::lab {
namespace {

using Ways = std::vector<Measurement*>;

// With starting and drawing a few seconds more: ./run has three minutes.
constexpr double kMeasuring = 170;  // seconds
constexpr double kForChoosing = 0.4;  // of it
constexpr double kForBeside = 0.15;
constexpr std::size_t kChoosing = 3;  // launches; fewer where slow ways leave no time for them
constexpr int kChoosingRounds = 2;
constexpr int kInARow = 3;  // busy launches: then disturbed ones are kept; calm ones: it is over

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

Clock::time_point after(double time_s) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::max(time_s, 0.0)));
}

// Without those that chose.
Launches reporting(const Measurement& way, std::size_t chosen_on) {
  const Launches all = metric_of(way);
  const auto first = static_cast<std::ptrdiff_t>(std::min(chosen_on, all.size()));
  return {all.begin() + first, all.end()};
}

// In their last launch. Who broke has none.
bool all_kept_their_cpus(const Ways& ways) {
  return std::all_of(ways.begin(), ways.end(), [](const Measurement* way) {
    return way->launches.empty() || kept_their_cpus(way->launches.back());
  });
}

bool stands_on(const RungKind& kind, const Contender& contender) {
  return contender.kind() != "own" || kind.own.empty() ||
         std::find(kind.own.begin(), kind.own.end(), contender.name) != kind.own.end();
}

bool is_measured(const Measurement& way) {
  return way.status == RowStatus::ok && !way.launches.empty() && !way.launches.front().empty();
}

}  // namespace

// A cell of the overview: a rung, or what is measured beside them.
struct Overview::Part {
  const RungKind* kind = nullptr;  // nothing: beside
  Scenario* scenario = nullptr;
  Session::Block block;
  std::vector<Measurement> all;
  RungChoice choice;
  Ways judged;  // own and peer
  Ways chosen;  // these and the others that are shown
  RungState state;
  double spent = 0;  // seconds
  // What happened on the machine.
  int repeats = 0;
  bool came_through = false;  // one was beside others, who took nothing from it
  int disturbed_in_a_row = 0;
  int fine_in_a_row = 0;
  std::string choosing_disturbed;      // why; empty: it was not
  std::vector<std::size_t> disturbed;  // launches that report, by their places among all
  std::string reason;                  // of the last one
  Disturbance sum;                     // of all times their length
  double watched = 0;                  // seconds

  // Of the first launches: the best of each kind.
  void choose_ways();

 private:
  // Nothing if none was measured of those that `wanted` accepts.
  template <class Wanted>
  Measurement* best(Wanted wanted);
};

template <class Wanted>
Measurement* Overview::Part::best(Wanted wanted) {
  const bool higher = scenario->metric(kind->cell.metric()).higher_is_better;
  Measurement* found = nullptr;
  double of_found = 0;
  for (Measurement& way : all) {
    if (!is_measured(way) || !wanted(way.contender)) continue;
    const double value = typical(metric_of(way));
    if (found != nullptr && (higher ? value <= of_found : value >= of_found)) continue;
    found = &way;
    of_found = value;
  }
  return found;
}

void Overview::Part::choose_ways() {
  const auto take = [&](Measurement* way, std::string& name) {
    if (way == nullptr) return;
    name = way->contender.name;
    const bool there = std::find(chosen.begin(), chosen.end(), way) != chosen.end();
    if (!there) chosen.push_back(way);
  };
  const auto of_kind = [](const char* wanted) {
    return [wanted](const Contender& contender) { return contender.kind() == wanted; };
  };
  const auto among = [](const std::vector<std::string>& names) {
    return [&names](const Contender& contender) {
      return std::find(names.begin(), names.end(), contender.name) != names.end();
    };
  };
  take(best(of_kind("own")), choice.own);
  take(best(of_kind("peer")), choice.peer);
  state.has_verdict = !choice.own.empty() && !choice.peer.empty();
  if (state.has_verdict) judged = chosen;
  take(best(among(kind->today)), choice.today);
  take(best(of_kind("limit")), choice.limit);
  for (const std::string& name : kind->named) {
    std::string found;
    take(best(among({name})), found);
    if (!found.empty()) choice.named.push_back(std::move(found));
  }
}

Overview::Overview(const MeasureOptions& options, const std::vector<std::string>& patterns,
                   Session& session)
    : options_(options), session_(session) {
  const std::vector<Contender> contenders = chosen(session.contenders(), patterns);
  for (const RungKind& kind : rung_kinds()) {
    add_part(kind.scenario, kind.cell, &kind, contenders);
  }
  for (const OverviewCell& beside : cells_beside_the_rungs()) {
    add_part(beside.scenario, beside.cell, nullptr, contenders);
  }
  if (parts_.empty()) {
    throw UserError(
        "the contenders chosen apply to none of an overview's cells; `handoff list` says where "
        "they apply");
  }
}

Overview::~Overview() = default;

// What this build does not know is no part of its overview, nor is what nobody can do.
void Overview::add_part(const std::string& scenario, const Cell& cell, const RungKind* kind,
                        const std::vector<Contender>& contenders) {
  Part part;
  part.kind = kind;
  for (const auto& known : session_.scenarios()) {
    if (known->name() == scenario) part.scenario = known.get();
  }
  if (part.scenario == nullptr) return;
  const auto& metrics = part.scenario->metrics();
  const bool known = std::any_of(metrics.begin(), metrics.end(), [&](const Metric& metric) {
    return metric.name == cell.metric();
  });
  if (!known) return;
  for (const Contender& contender : contenders) {
    const bool is_meant = kind == nullptr || stands_on(*kind, contender);
    if (is_meant && contender.scenario == scenario && contender.applies(cell)) {
      part.block.push_back({contender, cell});
    }
  }
  if (!part.block.empty()) parts_.push_back(std::move(part));
}

std::optional<std::size_t> Overview::fixed() const {
  if (!options_.launches) return {};
  return static_cast<std::size_t>(*options_.launches);
}

double Overview::seconds_left() const {
  constexpr double no_end = 1e9;
  return deadline_ ? seconds(*deadline_ - Clock::now()) : no_end;
}

std::size_t Overview::least() const { return fixed().value_or(kOverviewLooks.front()); }

void Overview::measure() {
  try {
    begin();
    first_launches();
    spend_the_rest();
  } catch (const Interrupted&) {
    session_.end_early();
    finish();
    throw;
  }
  finish();
}

void Overview::begin() {
  if (!options_.launches && !options_.time_budget_s) deadline_ = after(kMeasuring);
  for (const auto& scenario : session_.scenarios()) {
    std::vector<Session::Block> blocks;
    for (const Part& part : parts_) {
      if (part.scenario == scenario.get()) blocks.push_back(part.block);
    }
    if (!blocks.empty()) session_.prepare(*scenario, blocks);
  }
  for (Part& part : parts_) {
    part.all = session_.measurements_of(*part.scenario, part.block);
    if (part.kind == nullptr) continue;
    part.choice.name = part.kind->name;
    part.choice.scenario = part.kind->scenario;
    part.choice.metric = part.kind->cell.metric();
    part.choice.parameters = parameters_of(*part.scenario, part.kind->cell);
    part.choice.level = fixed() ? Judging{}.level : kOverviewLevel;
  }
  if (deadline_) {
    progress_.emplace(*deadline_);
  } else {
    const std::size_t rungs = static_cast<std::size_t>(std::count_if(
        parts_.begin(), parts_.end(), [](const Part& part) { return part.kind != nullptr; }));
    progress_.emplace(static_cast<int>(kChoosing * parts_.size() + least() * rungs));
  }
}

void Overview::first_launches() {
  const double whole = seconds_left();
  first_launches_of(true, kForChoosing * whole);
  first_launches_of(false, kForBeside * whole);
}

// Time that one cell does not need is the others'.
void Overview::first_launches_of(bool rungs, double left) {
  std::vector<Part*> parts;
  for (Part& part : parts_) {
    if ((part.kind != nullptr) == rungs) parts.push_back(&part);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    first_launches(*parts[i], left / static_cast<double>(parts.size() - i));
    left -= parts[i]->spent;
    if (rungs) parts[i]->choose_ways();
  }
}

void Overview::first_launches(Part& part, double share) {
  if (const auto& budget = options_.time_budget_s) {
    share = part.kind == nullptr ? *budget : *budget / 2;
  }
  Ways all;
  for (Measurement& way : part.all) all.push_back(&way);
  std::size_t launches = 0;
  while (launches < kChoosing) {
    const double left = share - part.spent;
    const Clock::time_point end = after(left / static_cast<double>(kChoosing - launches));
    const bool is_last = deadline_ && !has_time_for_another(part.spent, launches, share);
    if (launches > 0 && is_last) break;
    if (add_launch(part, all, kChoosingRounds, end, is_last)) ++launches;
  }
  part.choice.chosen_on = launches;
  if (!part.disturbed.empty()) part.choosing_disturbed = part.reason;
  part.disturbed.clear();
  // Of those that will be launched from now on, and with more rounds.
  part.state.seconds = part.spent / static_cast<double>(launches);
}

void Overview::spend_the_rest() {
  for (;;) {
    std::vector<RungState> states;
    std::vector<Part*> rungs;
    for (Part& part : parts_) {
      if (part.kind == nullptr || part.chosen.empty()) continue;
      if (options_.time_budget_s) {
        part.state.seconds_left = *options_.time_budget_s - part.spent;
      }
      states.push_back(part.state);
      rungs.push_back(&part);
    }
    const auto next = next_rung(states, seconds_left(), fixed());
    if (!next) return;
    Part& part = *rungs[*next];
    const double before = part.spent;
    // What is not judged has enough launches sooner.
    const bool all = part.state.reported < least();
    if (!add_launch(part, all ? part.chosen : part.judged, kOverviewRounds,
                    after(seconds_for_launch(part, states)), false)) {
      continue;
    }
    part.state.seconds = part.spent - before;
    ++part.state.reported;
    look_at(part);
    forget_what_was_disturbed();
  }
}

// The launches that every rung needs share what is left of the time.
double Overview::seconds_for_launch(const Part& part, const std::vector<RungState>& states) const {
  const auto missing = [&](const RungState& state) {
    return static_cast<double>(least() - std::min(least(), state.reported));
  };
  if (options_.time_budget_s) {
    return part.state.seconds_left / std::max(missing(part.state), 1.0);
  }
  double all = 0;
  for (const RungState& state : states) all += missing(state);
  return seconds_left() / std::max(all, 1.0);
}

// False: others disturbed it, and it is as if it had not been. Where that goes on and on, what they
// disturb has to do, unless this part's launches come through at times; and where the time is over
// (`is_last`).
bool Overview::add_launch(Part& part, const Ways& ways, int rounds, Clock::time_point end,
                          bool is_last) {
  const auto start = Clock::now();
  const std::optional<Disturbance> seen =
      session_.bench().add_launch(ways, rounds, end, *progress_);
  const double took = seconds(Clock::now() - start);
  part.spent += took;
  progress_->step();
  if (!seen) return true;
  part.sum.foreign_cpus += seen->foreign_cpus * took;
  if (seen->kernel_cpus) {
    part.sum.kernel_cpus = part.sum.kernel_cpus.value_or(0) + *seen->kernel_cpus * took;
  }
  part.sum.stolen_cpus += seen->stolen_cpus * took;
  part.sum.throttled += seen->throttled;
  part.sum.speed = seen->speed;
  part.watched += took;
  // A slow machine is slow for all that take turns, and pairs are judged: only time that somebody
  // took may favour one of them, and only if it was taken from them.
  const bool busy = !seen->reason.empty() && !seen->only_slow;
  busy_in_a_row_ = busy ? busy_in_a_row_ + 1 : 0;
  calm_in_a_row_ = busy ? 0 : calm_in_a_row_ + 1;
  std::size_t launches = 0;
  for (const Measurement* way : ways) launches = std::max(launches, way->launches.size());
  if (launches == 0) return true;  // nobody is left
  const bool untouched = busy && seen->only_foreign && all_kept_their_cpus(ways);
  part.came_through = part.came_through || untouched;
  part.disturbed_in_a_row = busy && !untouched ? part.disturbed_in_a_row + 1 : 0;
  part.fine_in_a_row = part.disturbed_in_a_row > 0 ? 0 : part.fine_in_a_row + 1;
  if (part.fine_in_a_row > 0) return true;
  const bool may_pass = !is_last && (busy_in_a_row_ < kInARow ||
                                     (part.came_through && part.disturbed_in_a_row < kInARow));
  if (may_pass) {
    for (Measurement* way : ways) {
      if (!way->launches.empty()) erase_launch(*way, way->launches.size() - 1);
    }
    ++part.repeats;
    return false;
  }
  part.disturbed.push_back(launches - 1);
  part.reason = seen->reason;
  return true;
}

// Not before it is time to.
void Overview::look_at(Part& part) const {
  const bool both = std::all_of(part.judged.begin(), part.judged.end(),
                                [](const Measurement* way) { return is_measured(*way); });
  if (!both) part.state.has_verdict = false;  // one of them broke
  if (fixed() || !is_look(part.state)) return;
  ++part.state.looks;
  const JudgedChange judged = judge(part);
  part.state.decided = judged.change != Change::too_noisy;
  // What is left alone at times may get rid of its disturbed launches, and be told apart by less.
  part.state.unlikely = part.state.looks > 1 && !part.came_through && is_verdict_unlikely(judged);
}

JudgedChange Overview::judge(const Part& part) const {
  const Metric& metric = part.scenario->metric(part.kind->cell.metric());
  const std::optional<Watch>& watch = session_.bench().watched();
  const std::size_t chosen_on = part.choice.chosen_on;
  return judge_change(reporting(*part.judged[0], chosen_on), reporting(*part.judged[1], chosen_on),
                      {.higher_is_better = metric.higher_is_better,
                       .floor = watch ? watch->floor() : 0,
                       .disturbed = !part.disturbed.empty(),
                       .disturbed_margin = kDisturbedMargin,
                       .level = part.choice.level});
}

// Once the machine is quiet again, or one part is left alone, what was measured meanwhile is
// measured again, for as long as the time lasts. That does not depend on what came out, and the
// looks count on.
void Overview::forget_what_was_disturbed() {
  double left = seconds_left();
  for (Part& part : parts_) {
    RungState& state = part.state;
    if (std::max(calm_in_a_row_, part.fine_in_a_row) < kInARow) continue;
    if (part.disturbed.empty() || state.looks == kOverviewLooks.size()) continue;
    const std::size_t kept = state.reported - part.disturbed.size();
    const std::size_t wanted = std::max(least(), fixed() ? 0 : kOverviewLooks[state.looks]);
    const double takes = state.seconds * static_cast<double>(wanted - std::min(wanted, kept));
    if (takes > left) continue;
    left -= takes;
    std::sort(part.disturbed.rbegin(), part.disturbed.rend());
    for (const std::size_t launch : part.disturbed) {
      for (Measurement* way : part.chosen) erase_launch(*way, launch);
    }
    state.reported = kept;
    state.decided = false;
    state.unlikely = false;
    part.repeats += static_cast<int>(part.disturbed.size());
    part.disturbed.clear();
  }
}

void Overview::finish() {
  progress_.reset();
  for (Part& part : parts_) {
    finish(part);
    if (!part.chosen.empty()) session_.add_rung(std::move(part.choice));
  }
}

// A way that was chosen is disturbed if the launches are that report.
void Overview::finish(Part& part) {
  const auto mark = [](Measurement& way, const std::string& reason) {
    if (reason.empty() || !is_measured(way)) return;
    way.status = RowStatus::noisy;
    way.reason = reason;
  };
  const bool watched = session_.bench().watched().has_value();
  for (Measurement& way : part.all) {
    const bool is_chosen =
        std::find(part.chosen.begin(), part.chosen.end(), &way) != part.chosen.end();
    const bool disturbed = is_chosen && !part.disturbed.empty();
    mark(way, is_chosen ? (disturbed ? part.reason : "") : part.choosing_disturbed);
    if (watched) mark(way, preempted(way));
  }
  calibrate(part.scenario->calibrations(), part.all);
  std::optional<BlockReport> report;
  if (part.watched > 0) {
    report.emplace(BlockReport{part.repeats, part.sum});
    report->seen.foreign_cpus /= part.watched;
    if (report->seen.kernel_cpus) *report->seen.kernel_cpus /= part.watched;
    report->seen.stolen_cpus /= part.watched;
    const bool kept = !part.disturbed.empty();
    report->seen.reason = kept ? part.reason : part.choosing_disturbed;
  }
  session_.finish(*part.scenario, part.all, report);
  for (const Article& article : part.scenario->articles()) {
    if (article.cell == part.block.front().cell) session_.add_article(*part.scenario, article);
  }
}

}  // namespace handoff::lab

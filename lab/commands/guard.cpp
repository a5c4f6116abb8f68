// SPDX-License-Identifier: MIT
#include "commands/guard.hpp"
#include "commands/revision.hpp"
#include "commands/session.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

constexpr double kGuardMargin = 0.03;
// Numbers of launches at which a cell is looked at. The looks share the error of a 99 % interval.
constexpr std::array<std::size_t, 12> kGuardLooks{5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr double kGuardLevel = 1 - 0.01 / static_cast<double>(kGuardLooks.size());
constexpr int kGuardRounds = 15;  // a launch costs more by its start than by short bursts
constexpr std::chrono::milliseconds kGuardBurst{4};
constexpr std::chrono::seconds kLongestLaunch{2};  // no further round of bursts after that
constexpr int kLaunchesForTheFloor = 16;

enum class Outcome { worse, same_or_better, undecided, broken };

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::worse: return "worse";
    case Outcome::same_or_better: return "same or better";
    case Outcome::broken: return "broken";
    case Outcome::undecided: break;
  }
  return "undecided";
}

// A cell in two builds. What the first run calls worse is measured in a second one.
struct GuardTrial {
  GuardedCell cell;
  Contender now;
  std::optional<Contender> before;
  std::vector<Measurement> sides = {};  // of this run: now, before
  int run = 1;
  std::size_t looks = 0;  // at this run
  bool planted = false;
  bool settled = false;
  Outcome outcome = Outcome::undecided;
  std::optional<JudgedChange> judged = {};  // the latest,
  std::size_t judged_launches = 0;          // by so many of each side
  std::string reason = {};                  // why it is undecided, or what broke
};

// Every other layout of a contender: the two runs share none. One that has a single one has that.
Contender in_run(Contender contender, int run) {
  const auto all = std::exchange(contender.executables, {});
  for (std::size_t i = all.size() == 1 ? 0 : static_cast<std::size_t>(run - 1); i < all.size();
       i += 2) {
    contender.executables.push_back(all[i]);
  }
  return contender;
}

// Whether somebody may have favoured one of the two sides in their latest launch. A slow machine is
// slow for both.
bool is_disturbed(const std::optional<Disturbance>& seen, const std::vector<Measurement>& sides) {
  if (!seen || seen->reason.empty() || seen->only_slow) return false;
  return !seen->only_foreign || !std::ranges::all_of(sides, [](const auto& side) {
    return side.launches.empty() || kept_their_cpus(side.launches.back());
  });
}

class Guard {
 public:
  Guard(Session& session, std::vector<GuardTrial> trials)
      : session_(session), trials_(std::move(trials)) {}

  // Slows half of the cells down by so much.
  void plant(int percent) {
    std::vector<GuardTrial*> all;
    for (GuardTrial& trial : trials_) all.push_back(&trial);
    std::ranges::shuffle(all, std::mt19937_64(session_.plan().seed));
    all.resize((all.size() + 1) / 2);
    for (GuardTrial* trial : all) trial->planted = true;
    planted_ = percent;
  }

  void prepare() {
    for (GuardTrial& trial : trials_) {
      if (!trial.before) {
        settle(trial, Outcome::undecided, "the revision has no such contender");
        continue;
      }
      const Session::Block block{{trial.now, trial.cell.cell}, {*trial.before, trial.cell.cell}};
      session_.prepare(*trial.cell.scenario, {block});
      trial.sides = session_.measurements_of(*trial.cell.scenario, block);
      if (trial.planted) {
        trial.sides.front().variables.push_back(
            {protocol::planted_percent, std::to_string(planted_)});
      }
      begin_run(trial, 1);
    }
    const std::optional<Watch>& watch = session_.bench().watched();
    floor_ = watch ? watch->certain_floor() : 0;
  }

  // In rounds, so that whatever the time, each cell has had as much of it as it wanted or another.
  void measure(Clock::time_point end) {
    Progress progress(end);
    for (bool any = true; any;) {
      any = false;
      for (GuardTrial& trial : trials_) {
        if (trial.settled) continue;
        if (Clock::now() >= end) return;
        any = true;
        add_launch(trial, progress);
      }
    }
  }

  void print() const {
    for (const GuardTrial& trial : trials_) {
      fmt::print("{:<14}  {}: {}{}\n", name_of(trial.outcome), trial.cell.name, figures_of(trial),
                 trial.planted ? " (planted)" : "");
    }
    fmt::print(
        "{} cells: {} worse, {} same or better, {} undecided, {} broken; "
        "worse means beyond {:.1f} % in two runs\n",
        trials_.size(), count(Outcome::worse), count(Outcome::same_or_better),
        count(Outcome::undecided), count(Outcome::broken), 100 * margin());
    if (planted_ == 0) return;
    fmt::print("planted {} % in {} cells: {} found; {} of the other cells called worse\n", planted_,
               count_planted(), found(), count(Outcome::worse) - found());
  }

  // With planted slow-downs: whether it has found 17 of 20, and none where there is none.
  [[nodiscard]] int exit_code() const {
    if (count(Outcome::broken) > 0) return exit_code::broken;
    if (planted_ > 0) {
      const bool finds = 20 * found() >= 17 * count_planted();
      return finds && count(Outcome::worse) == found() ? exit_code::ok : exit_code::falls_short;
    }
    if (count(Outcome::worse) > 0) return exit_code::falls_short;
    return count(Outcome::undecided) > 0 ? exit_code::too_noisy : exit_code::ok;
  }

 private:
  void settle(GuardTrial& trial, Outcome outcome, std::string reason = {}) {
    trial.settled = true;
    trial.outcome = outcome;
    trial.reason = std::move(reason);
    for (Measurement& side : trial.sides) side.problem = nullptr;  // large input is given back
  }

  void begin_run(GuardTrial& trial, int run) {
    trial.run = run;
    trial.looks = 0;
    for (std::size_t side = 0; side < trial.sides.size(); ++side) {
      Measurement& old = trial.sides[side];
      const Contender& contender = side == 0 ? trial.now : *trial.before;
      old = {in_run(contender, run), old.cell, old.problem, old.variables};
    }
  }

  void add_launch(GuardTrial& trial, Progress& progress) {
    std::vector<Measurement*> both;
    for (Measurement& side : trial.sides) both.push_back(&side);
    const auto seen =
        session_.bench().add_launch(both, kGuardRounds, Clock::now() + kLongestLaunch, progress);
    const Measurement& now = trial.sides[0];
    const Measurement& before = trial.sides[1];
    if (before.status != RowStatus::ok) {
      settle(trial, Outcome::undecided,
             fmt::format("{}: {}", before.contender.name, before.reason));
    } else if (now.status != RowStatus::ok) {
      settle(trial, is_broken(now.status) ? Outcome::broken : Outcome::undecided,
             fmt::format("{}: {}", now.contender.name, now.reason));
    } else if (is_disturbed(seen, trial.sides)) {
      trial.reason = seen->reason;
      for (Measurement* side : both) erase_launch(*side, side->launches.size() - 1);
    } else {
      look_at(trial);
    }
  }

  void look_at(GuardTrial& trial) {
    if (trial.sides[0].launches.size() < kGuardLooks.at(trial.looks)) return;
    ++trial.looks;
    trial.reason.clear();
    const Judging judging{
        .higher_is_better = higher_is_better(trial), .floor = margin(), .level = kGuardLevel};
    trial.judged_launches = trial.sides[0].launches.size();
    trial.judged = judge_launches(good_of(trial, 0), good_of(trial, 1), judging);
    if (!trial.judged) return settle(trial, Outcome::undecided, "a figure is not above 0");
    if (trial.judged->change == Change::worse) {
      if (trial.run == 2) return settle(trial, Outcome::worse);
      return begin_run(trial, 2);
    }
    if (cost_of(trial).bounds.high <= 1 + margin()) return settle(trial, Outcome::same_or_better);
    if (trial.looks == kGuardLooks.size()) settle(trial, Outcome::undecided);
  }

  // Each launch by its lower quartile of cost: a neighbour that comes and goes slows most bursts
  // down, and seldom all of them.
  [[nodiscard]] static Launches good_of(const GuardTrial& trial, std::size_t side) {
    Launches good;
    for (std::vector<double> bursts : metric_of(trial.sides[side])) {
      std::ranges::sort(bursts);
      const std::size_t quarter = bursts.size() / 4;
      good.push_back({bursts[higher_is_better(trial) ? bursts.size() - 1 - quarter : quarter]});
    }
    return good;
  }

  [[nodiscard]] static bool higher_is_better(const GuardTrial& trial) {
    return trial.cell.scenario->metric(trial.cell.cell.metric()).higher_is_better;
  }

  // The ratio as one of which less is better.
  [[nodiscard]] static JudgedChange cost_of(const GuardTrial& trial) {
    JudgedChange cost = trial.judged.value();
    if (!higher_is_better(trial)) return cost;
    cost.ratio = 1 / cost.ratio;
    cost.bounds = {1 / cost.bounds.high, 1 / cost.bounds.low};
    return cost;
  }

  [[nodiscard]] static std::string figures_of(const GuardTrial& trial) {
    std::string text;
    if (trial.judged) {
      const JudgedChange cost = cost_of(trial);
      text = fmt::format("{:.3f} ({:.3f} .. {:.3f}) times the cost, by {} launches", cost.ratio,
                         cost.bounds.low, cost.bounds.high, trial.judged_launches);
      if (trial.run == 2 && trial.outcome != Outcome::worse) text += ", worse in the first run";
    } else if (trial.reason.empty()) {
      text = fmt::format("fewer than {} launches", kGuardLooks.front());
    }
    if (trial.reason.empty()) return text;
    return text.empty() ? trial.reason : text + ", " + trial.reason;
  }

  [[nodiscard]] double margin() const { return std::max(kGuardMargin, floor_); }

  [[nodiscard]] std::ptrdiff_t count(Outcome outcome) const {
    return std::ranges::count(trials_, outcome, &GuardTrial::outcome);
  }
  [[nodiscard]] std::ptrdiff_t count_planted() const {
    return std::ranges::count(trials_, true, &GuardTrial::planted);
  }
  [[nodiscard]] std::ptrdiff_t found() const {
    return std::ranges::count_if(trials_, [](const GuardTrial& trial) {
      return trial.planted && trial.outcome == Outcome::worse;
    });
  }

  Session& session_;
  std::vector<GuardTrial> trials_;
  double floor_ = 0;
  int planted_ = 0;  // %
};

MeasureOptions measuring(MeasureOptions options) {
  options.burst = kGuardBurst;
  options.launches = kLaunchesForTheFloor;
  return options;
}

Contender own_contender(const Session& session, const GuardedCell& cell) {
  const Contender& contender = session.contender_named(*cell.scenario, cell.contender);
  if (contender.kind() != "own" || !contender.applies(cell.cell)) {
    throw UserError("cell '{}': {} is no contender of this library that does {} {}", cell.name,
                    cell.contender, cell.cell.metric(), cell.cell.text());
  }
  return contender;
}

}  // namespace

int guard(const GuardOptions& options) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(options.within_s));
  Interrupt interrupt;
  Session session(measuring(options.measure), interrupt);
  std::vector<GuardTrial> trials;
  std::vector<Contender> contenders;
  std::vector<Session::Block> blocks;
  for (GuardedCell& cell : read_guarded_cells(options.cells, session.scenarios())) {
    contenders.push_back(own_contender(session, cell));
    blocks.push_back({{contenders.back(), cell.cell}});
    trials.push_back({std::move(cell), contenders.back(), {}});
  }
  if (options.targets) {
    session.print_targets(blocks);
    return exit_code::ok;
  }
  if (options.revision.empty()) throw UserError("guard needs --ref GITREF, to compare with");
  const Revision revision(options.revision, contenders, interrupt);
  session.build(blocks);
  for (GuardTrial& trial : trials) trial.before = revision.like(trial.now);
  fmt::print(stderr, "before: {} ({}); now: this build; seed {}\n", options.revision,
             revision.commit(), session.plan().seed);
  Guard guard(session, std::move(trials));
  if (options.planted > 0) guard.plant(options.planted);
  try {
    guard.prepare();
    guard.measure(end);
  } catch (const Interrupted& signal) {
    guard.print();
    return exit_code::signal + signal.signal;
  }
  guard.print();
  return guard.exit_code();
}

}  // namespace handoff::lab

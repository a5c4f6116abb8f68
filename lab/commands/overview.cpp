// SPDX-License-Identifier: MIT
#include "commands/overview.hpp"
#include "harness/user_error.hpp"
#include "report/ladder_text.hpp"

namespace handoff::lab {
namespace {

using Ways = std::vector<Measurement*>;

// With starting and drawing some seconds more: ./run has two minutes.
constexpr double kMeasuring = 105;  // seconds
constexpr double kOneRung = 30;     // the same for each that was named
constexpr double kShares = 1.7;     // of it, that one rung may take
constexpr std::size_t kFirst = 3;     // launches: then a rung shows figures
constexpr std::size_t kFewest = 5;
constexpr std::size_t kLeast = 9;  // with fewer no signed ranks exclude 1
constexpr std::size_t kBeside = 2;
constexpr int kRounds = 3;           // of bursts in a launch
constexpr std::chrono::milliseconds kLongest(150);  // of a launch's bursts: no further round
constexpr std::size_t kMostWays = 4;  // on a rung

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

bool is_measured(const Measurement& way) {
  return way.status == RowStatus::ok && !way.launches.empty() && !way.launches.front().empty();
}

// Of the answer by now, as a logarithm; infinity where there is none.
double range_of(const Ways& judged) {
  std::vector<Times> others;
  for (const Measurement* way : judged) {
    if (is_measured(*way)) others.push_back(times_of(metric_of(*way)));
  }
  if (others.size() < 2 || !is_measured(*judged.front())) {
    return std::numeric_limits<double>::infinity();
  }
  const Times own = std::exchange(others.front(), others.back());
  others.pop_back();
  const Answer answer = answer_of(own, others);
  return std::log(answer.range.high / answer.range.low);
}

}  // namespace

// A cell of the overview: a rung, or what is measured beside them.
struct Overview::Part {
  const RungKind* kind = nullptr;  // nothing: beside
  Scenario* scenario = nullptr;
  Session::Block block;
  RungChoice choice;
  std::vector<Measurement> all;
  RungState state;
  std::size_t line = 0;  // of the live ladder
  // What happened on the machine.
  std::size_t disturbed = 0;  // launches
  std::string reason;         // of the last one
  Disturbances seen;

  [[nodiscard]] Ways judged();
};

// This library's and the peers, once a rung has its least; the others are there for a look only.
Ways Overview::Part::judged() {
  Ways ways;
  for (Measurement& way : all) {
    const std::string& name = way.contender.name;
    if (name == choice.own || contains(choice.peers, name)) ways.push_back(&way);
  }
  return ways;
}

Overview::Overview(const RunOptions& options, Session& session)
    : options_(options.measure),
      session_(session),
      time_s_(options.rungs.empty() ? kMeasuring
                                    : kOneRung * static_cast<double>(options.rungs.size())) {
  const std::vector<Contender> contenders = chosen(session.contenders(), options.contenders);
  for (const std::string& name : options.rungs) add_rung(*rung_kind_named(name), contenders);
  if (options.rungs.empty()) {
    for (const RungKind* kind : rung_kinds_by_interest()) add_rung(*kind, contenders);
    for (const OverviewCell& beside : cells_beside_the_rungs()) add_beside(beside, contenders);
  }
  if (parts_.empty()) {
    throw UserError(
        "the chosen contenders are on no rung of an overview; `handoff list` says where they "
        "apply");
  }
}

Overview::~Overview() = default;

std::vector<Session::Block> Overview::blocks() const {
  std::vector<Session::Block> all;
  for (const Part& part : parts_) all.push_back(part.block);
  return all;
}

// Nothing where this build does not know it.
Scenario* Overview::scenario_with(const std::string& name, const Cell& cell) const {
  for (const auto& known : session_.scenarios()) {
    if (known->name() != name) continue;
    const auto& metrics = known->metrics();
    const bool has = std::ranges::any_of(
        metrics, [&](const Metric& metric) { return metric.name == cell.metric(); });
    if (has) return known.get();
  }
  return nullptr;
}

void Overview::add_rung(const RungKind& kind, const std::vector<Contender>& contenders) {
  Part part;
  part.kind = &kind;
  part.scenario = scenario_with(kind.scenario, kind.cell);
  if (part.scenario == nullptr) return;
  const auto add = [&](const std::string& name) {
    for (const auto& [there, cell] : part.block) {
      if (there.name == name) return true;
    }
    // One of a list of --manifest takes the place of the build's.
    const auto found =
        std::find_if(contenders.rbegin(), contenders.rend(), [&](const Contender& contender) {
          return contender.scenario == kind.scenario && contender.name == name &&
                 contender.built() && contender.applies(kind.cell);
        });
    if (found == contenders.rend()) return false;
    part.block.push_back({*found, kind.cell});
    return true;
  };
  constexpr std::size_t most_peers = 2;
  RungChoice& choice = part.choice;
  if (add(kind.own)) choice.own = kind.own;
  for (const std::string& peer : kind.peers) {
    if (choice.peers.size() < most_peers && add(peer)) choice.peers.push_back(peer);
  }
  if (!kind.today.empty() && add(kind.today)) choice.today = kind.today;
  const bool has_room = part.block.size() < kMostWays;
  if (has_room && !kind.limit.empty() && add(kind.limit)) choice.limit = kind.limit;
  if (part.block.empty()) return;
  choice.name = kind.name;
  choice.scenario = kind.scenario;
  choice.metric = kind.cell.metric();
  choice.parameters = parameters_of(*part.scenario, kind.cell);
  parts_.push_back(std::move(part));
}

void Overview::add_beside(const OverviewCell& beside, const std::vector<Contender>& contenders) {
  Part part;
  part.scenario = scenario_with(beside.scenario, beside.cell);
  if (part.scenario == nullptr) return;
  for (const Contender& contender : contenders) {
    if (contains(beside.contenders, contender.name) && contender.scenario == beside.scenario &&
        contender.built() && contender.applies(beside.cell)) {
      part.block.push_back({contender, beside.cell});
    }
  }
  if (!part.block.empty()) parts_.push_back(std::move(part));
}

double Overview::seconds_left() const {
  return deadline_ ? seconds(*deadline_ - Clock::now()) : std::numeric_limits<double>::infinity();
}

double Overview::share_of_a_rung() const {
  const auto rungs =
      std::ranges::count_if(parts_, [](const Part& part) { return part.kind != nullptr; });
  return kShares * time_s_ / static_cast<double>(rungs + 1);
}

void Overview::measure() {
  try {
    begin();
    if (deadline_) {
      sweep();
      spend_the_rest();
    } else {
      for (Part& part : parts_) {
        while (!is_enough(part)) add_launch(part);
        look_at(part);
      }
    }
  } catch (const Interrupted&) {
    session_.end_early();
    finish();
    throw;
  }
  finish();
}

void Overview::begin() {
  if (!options_.launches && !options_.time_budget_s) {
    deadline_ = Clock::now() + std::chrono::milliseconds(static_cast<int>(1e3 * time_s_));
  }
  std::vector<std::string> lines;
  for (Part& part : parts_) {
    if (part.kind == nullptr) continue;
    part.line = lines.size();
    lines.push_back(waiting_line(part.kind->name, part.kind->title, LiveLadder::columns()));
  }
  ladder_.emplace(std::move(lines));
  if (deadline_) {
    progress_.emplace(*deadline_);
  } else {
    progress_.emplace(static_cast<int>(parts_.size()) * options_.launches.value_or(1));
  }
  progress_->show("the machine");
  for (const auto& scenario : session_.scenarios()) {
    std::vector<Session::Block> blocks;
    for (const Part& part : parts_) {
      if (part.scenario == scenario.get()) blocks.push_back(part.block);
    }
    if (!blocks.empty()) session_.prepare(*scenario, blocks);
  }
  for (Part& part : parts_) part.all = session_.measurements_of(*part.scenario, part.block);
}

bool Overview::is_enough(const Part& part) const {
  if (options_.launches) {
    return part.state.launches >= static_cast<std::size_t>(*options_.launches);
  }
  const bool has_time = part.state.spent + part.state.seconds <= *options_.time_budget_s;
  return part.state.launches > 0 && (!has_time || part.state.launches >= kLeast);
}

// Each rung in its turn, so that what comes and goes on the machine meets all of them. More than
// the fewest launches a slow rung gets only where they fit into its share of the time.
void Overview::sweep() {
  const double share = share_of_a_rung();
  for (std::size_t least = kFirst; least <= kLeast; ++least) {
    for (Part& part : parts_) {
      const bool is_rung = part.kind != nullptr;
      while (part.state.launches < (is_rung ? least : kBeside)) {
        const bool fits = part.state.spent + part.state.seconds <= share;
        if (part.state.launches > 0 && seconds_left() <= 0) return;
        if (part.state.launches >= kFewest && !fits) break;
        add_launch(part);
      }
      look_at(part);
    }
  }
}

void Overview::spend_the_rest() {
  std::vector<Part*> all;
  for (Part& part : parts_) {
    const bool is_rung = part.kind != nullptr && !part.kind->leaves_files;
    if (is_rung && part.judged().size() > 1) all.push_back(&part);
  }
  const double share = share_of_a_rung();
  for (;;) {
    std::vector<RungState> states;
    for (const Part* part : all) states.push_back(part->state);
    const auto next = next_rung(states, seconds_left(), share);
    if (!next) return;
    add_launch(*all[*next]);
    look_at(*all[*next]);
  }
}

void Overview::add_launch(Part& part) {
  Ways ways;
  if (part.kind == nullptr || part.state.launches < kFewest || !deadline_) {
    for (Measurement& way : part.all) ways.push_back(&way);
  } else {
    ways = part.judged();
  }
  const auto start = Clock::now();
  const std::optional<Disturbance> seen = session_.bench().add_launch(
      ways, kRounds, start + kLongest * static_cast<int>(ways.size()), *progress_);
  const double took = seconds(Clock::now() - start);
  progress_->step();
  ++part.state.launches;
  part.state.spent += took;
  part.state.seconds = took;
  if (!seen) return;
  part.seen.add(*seen, took);
  if (seen->reason.empty() || seen->only_slow) return;
  ++part.disturbed;
  part.reason = seen->reason;
}

// What is known of it by now: for the next launches, and for those who wait.
void Overview::look_at(Part& part) {
  if (part.kind == nullptr) return;
  part.state.range = range_of(part.judged());
  if (!ladder_->is_drawn()) return;
  Result known;
  append_block(known, *part.scenario, part.all, {}, session_.plan().seed);
  known.rungs = {part.choice};
  ladder_->set(part.line, rung_line(ladder_of(known).rungs.front(), LiveLadder::columns()));
}

void Overview::finish() {
  progress_.reset();
  ladder_.reset();
  for (Part& part : parts_) finish(part);
  for (const RungKind& kind : rung_kinds()) {
    const auto found =
        std::ranges::find_if(parts_, [&](const Part& part) { return part.kind == &kind; });
    const bool measured = found != parts_.end() && found->state.launches > 0;
    if (measured) session_.add_rung(std::move(found->choice));
  }
}

void Overview::finish(Part& part) {
  const bool watched = session_.bench().watched().has_value();
  const bool disturbed = 2 * part.disturbed > part.state.launches;
  for (Measurement& way : part.all) {
    if (!is_measured(way)) continue;
    const std::string reason = disturbed ? part.reason : watched ? preempted(way) : "";
    if (reason.empty()) continue;
    way.status = RowStatus::noisy;
    way.reason = reason;
  }
  calibrate(part.scenario->calibrations(), part.all);
  session_.finish(*part.scenario, part.all, part.seen.report(0, disturbed ? part.reason : ""));
  for (const Article& article : part.scenario->articles()) {
    if (article.cell == part.block.front().cell) session_.add_article(*part.scenario, article);
  }
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "commands/replay_launches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/verdict.hpp"
#include "report/replay_report.hpp"

namespace handoff::lab {
namespace {

constexpr int most_rounds = 3;  // of a launch: the median leaves out the burst that something hit
constexpr int most_in_a_row = 3;  // disturbed launches: then they are kept

Clock::duration in_clock(std::chrono::duration<double> time) {
  return std::chrono::duration_cast<Clock::duration>(time);
}

std::string counted(std::size_t launches) {
  return fmt::format("{} launch{}", launches, launches == 1 ? "" : "es");
}

// Progress draws on a terminal. Elsewhere this prints a line now and then.
class SignsOfLife {
 public:
  explicit SignsOfLife(Clock::time_point end) : silent_(isatty(STDERR_FILENO) == 1), end_(end) {}

  void begin(std::size_t ways, const ReplayPlan& plan) {
    const std::string until = plan.ends_in_time ? fmt::format("{:.0f} s at most", left_s())
                                                : counted(plan.launches.value_or(1));
    say(fmt::format("replaying in {} ways in turns: {}", ways, until));
  }
  void launched(std::size_t launches) {
    constexpr std::chrono::seconds often_enough(10);
    if (Clock::now() - said_ < often_enough) return;
    say(fmt::format("replaying: launched {} times, {:.0f} s left", launches, left_s()));
  }

 private:
  [[nodiscard]] double left_s() const {
    return std::max(0.0, std::chrono::duration<double>(end_ - Clock::now()).count());
  }
  void say(const std::string& line) {
    said_ = Clock::now();
    if (!silent_) fmt::print(stderr, "{}\n", line);
  }

  bool silent_;
  Clock::time_point end_;
  Clock::time_point said_;
};

class Replays {
 public:
  Replays(Session& session, std::vector<Measurement>& ways, const ReplayPlan& plan,
          Clock::time_point end)
      : session_(session), ways_(ways), plan_(plan), end_(end), signs_(end) {
    for (Measurement& way : ways) all_.push_back(&way);
    if (plan.ends_in_time) {
      progress_.emplace(end_);
    } else {
      progress_.emplace(static_cast<int>(plan.launches.value_or(1)));
    }
    signs_.begin(ways.size(), plan);
  }

  void measure() {
    while (!is_enough()) add_launch();
  }

  // Why the figures are not enough to tell, whatever they are; empty: they may be.
  [[nodiscard]] std::string too_few() const {
    if (plan_.launches || launches_ >= kLooks.front()) return "";
    return fmt::format("{} in the time; at least {} are needed", counted(launches_),
                       kLooks.front());
  }

  // What happened on the machine; nothing where it was not watched.
  [[nodiscard]] std::optional<BlockReport> report() const {
    return seen_.report(repeats_, disturbed_);
  }

 private:
  [[nodiscard]] bool is_enough() const {
    if (std::none_of(ways_.begin(), ways_.end(), goes_on)) return launches_ > 0 || tried_;
    if (plan_.launches && launches_ >= *plan_.launches) return true;
    if (plan_.ends_in_time && launches_ > 0 && Clock::now() + slowest_ > end_) return true;
    if (plan_.launches || launches_ < kLooks.front()) return false;
    const bool is_look = std::find(kLooks.begin(), kLooks.end(), launches_) != kLooks.end();
    return launches_ >= kLooks.back() || (is_look && are_steady());
  }

  static bool goes_on(const Measurement& way) { return way.status == RowStatus::ok; }

  [[nodiscard]] bool are_steady() const {
    constexpr int resamples = 500;
    return std::all_of(ways_.begin(), ways_.end(), [&](const Measurement& way) {
      if (!goes_on(way)) return true;
      const Interval bounds = interval(resample(metric_of(way), plan_.seed, resamples));
      return is_steady(bounds.low, bounds.high);
    });
  }

  void add_launch() {
    const auto start = Clock::now();
    tried_ = true;
    const std::size_t wanted = plan_.launches.value_or(kLooks.front());
    const std::size_t missing = std::max<std::size_t>(wanted - std::min(wanted, launches_), 1);
    const auto share = (end_ - start) / static_cast<int>(missing);
    const auto seen = session_.bench().add_launch(all_, most_rounds, start + share, *progress_);
    const auto took = Clock::now() - start;
    slowest_ = std::max(slowest_, took);
    if (seen && !keep(*seen, std::chrono::duration<double>(took).count())) return;
    ++launches_;
    progress_->step();
    signs_.launched(launches_);
  }

  // A slow machine is slow for all that take turns, and pieces compute by the clock of their CPU.
  bool keep(const Disturbance& seen, double took_s) {
    seen_.add(seen, took_s);
    const bool disturbed = !seen.reason.empty() && !seen.only_slow;
    in_a_row_ = disturbed ? in_a_row_ + 1 : 0;
    if (!disturbed) return true;
    if (in_a_row_ >= most_in_a_row || Clock::now() + slowest_ > end_) {
      disturbed_ = seen.reason;
      return true;
    }
    for (Measurement& way : ways_) {
      if (!way.launches.empty()) erase_launch(way, way.launches.size() - 1);
    }
    ++repeats_;
    return false;
  }

  Session& session_;
  std::vector<Measurement>& ways_;
  const ReplayPlan& plan_;
  std::vector<Measurement*> all_;
  Clock::time_point end_;
  SignsOfLife signs_;
  std::optional<Progress> progress_;
  std::size_t launches_ = 0;  // that are kept
  bool tried_ = false;
  Clock::duration slowest_{};  // launch
  int repeats_ = 0;
  int in_a_row_ = 0;
  std::string disturbed_;  // why the last one that was kept was; empty: none was
  Disturbances seen_;
};

}  // namespace

void measure_replays(Session& session, Scenario& scenario, const Session::Block& block,
                     const ReplayPlan& plan) {
  session.build({block});
  const Clock::time_point end = Clock::now() + in_clock(plan.time);
  {
    Progress progress(end);
    progress.show("how fast and how steady the machine is");
    session.prepare(scenario, {block});
  }
  std::vector<Measurement> ways = session.measurements_of(scenario, block);
  Replays replays(session, ways, plan, end);
  try {
    replays.measure();
  } catch (const Interrupted&) {
    session.end_early();
    session.finish(scenario, ways, {});
    throw;
  }
  const std::optional<BlockReport> report = replays.report();
  const std::string disturbed = report ? report->seen.reason : "";
  const std::string reason = disturbed.empty() ? replays.too_few() : disturbed;
  for (Measurement& way : ways) {
    if (reason.empty() || way.status != RowStatus::ok) continue;
    way.status = RowStatus::noisy;
    way.reason = reason;
  }
  session.finish(scenario, ways, report);
}

}  // namespace handoff::lab

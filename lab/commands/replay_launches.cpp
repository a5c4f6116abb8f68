// SPDX-License-Identifier: MIT
#include "commands/replay_launches.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "harness/verdict.hpp"
#include "report/replay_report.hpp"

namespace handoff::lab {
namespace {

constexpr int most_rounds = 3;  // of a launch: the median leaves out the burst that something hit
constexpr int most_in_a_row = 3;  // disturbed launches: then they are kept

class Replays {
 public:
  Replays(Session& session, std::vector<Measurement>& ways, const ReplayPlan& plan)
      : session_(session), ways_(ways), plan_(plan), end_(start_ + in_clock(plan.time)) {
    for (Measurement& way : ways) all_.push_back(&way);
    if (plan.launches) {
      progress_.emplace(static_cast<int>(*plan.launches));
    } else {
      progress_.emplace(end_);
    }
  }

  void measure() {
    while (!is_enough()) add_launch();
  }

  // What happened on the machine; nothing where it was not watched.
  [[nodiscard]] std::optional<BlockReport> report() const {
    if (!(watched_s_ > 0)) return {};
    BlockReport report{repeats_, sum_};
    report.seen.foreign_cpus /= watched_s_;
    report.seen.stolen_cpus /= watched_s_;
    report.seen.reason = disturbed_;
    return report;
  }

 private:
  static Clock::duration in_clock(std::chrono::duration<double> time) {
    return std::chrono::duration_cast<Clock::duration>(time);
  }

  [[nodiscard]] bool is_enough() const {
    if (std::none_of(ways_.begin(), ways_.end(), goes_on)) return launches_ > 0 || tried_;
    if (plan_.launches) return launches_ >= *plan_.launches;
    if (launches_ < kLooks.front()) return false;
    const bool is_look = std::find(kLooks.begin(), kLooks.end(), launches_) != kLooks.end();
    if (is_look && are_steady()) return true;
    return launches_ >= kLooks.back() || Clock::now() + slowest_ > end_;
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
  }

  // A slow machine is slow for all that take turns, and pieces compute by the clock of their CPU.
  bool keep(const Disturbance& seen, double took_s) {
    sum_.foreign_cpus += seen.foreign_cpus * took_s;
    sum_.stolen_cpus += seen.stolen_cpus * took_s;
    sum_.throttled += seen.throttled;
    sum_.speed = seen.speed;
    watched_s_ += took_s;
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
  Clock::time_point start_ = Clock::now();
  Clock::time_point end_;
  std::optional<Progress> progress_;
  std::size_t launches_ = 0;  // that are kept
  bool tried_ = false;
  Clock::duration slowest_{};  // launch
  int repeats_ = 0;
  int in_a_row_ = 0;
  std::string disturbed_;  // why the last one that was kept was; empty: none was
  Disturbance sum_;  // of all times their length
  double watched_s_ = 0;
};

}  // namespace

void measure_replays(Session& session, Scenario& scenario, const Session::Block& block,
                     const ReplayPlan& plan) {
  session.prepare(scenario, {block});
  std::vector<Measurement> ways = session.measurements_of(scenario, block);
  Replays replays(session, ways, plan);
  try {
    replays.measure();
  } catch (const Interrupted&) {
    session.end_early();
    session.finish(scenario, ways, {});
    throw;
  }
  const std::optional<BlockReport> report = replays.report();
  for (Measurement& way : ways) {
    if (!report || report->seen.reason.empty() || way.status != RowStatus::ok) continue;
    way.status = RowStatus::noisy;
    way.reason = report->seen.reason;
  }
  session.finish(scenario, ways, report);
}

}  // namespace handoff::lab

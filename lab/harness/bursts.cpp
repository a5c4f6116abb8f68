// SPDX-License-Identifier: MIT
#include "harness/bursts.hpp"
#include "harness/build_tree.hpp"
#include "harness/protocol.hpp"
#include "harness/thread_times.hpp"
#include "harness/verdict.hpp"

namespace handoff::lab {
namespace {

std::string name_of(const Measurement& measurement) {
  return fmt::format("{}: {} {}", measurement.contender.name, measurement.cell.metric(),
                     measurement.cell.text());
}

}  // namespace

void drop(Measurement& measurement, const Dropped& dropped) {
  measurement.status = dropped.status;
  measurement.reason = dropped.reason;
  measurement.launches.clear();
  measurement.phases.clear();
  measurement.layouts.clear();
}

void erase_launch(Measurement& measurement, std::size_t launch) {
  const auto erase = [launch](auto& of_launches) {
    if (launch >= of_launches.size()) return;
    of_launches.erase(of_launches.begin() + static_cast<std::ptrdiff_t>(launch));
  };
  erase(measurement.launches);
  erase(measurement.phases);
  erase(measurement.layouts);
}

Bench Bench::quick() const {
  Plan plan = plan_;
  plan.launches = 1;
  plan.most_launches = 1;
  plan.burst = std::min<std::chrono::nanoseconds>(plan.burst, std::chrono::milliseconds(50));
  plan.most_rounds = 3;
  plan.budget = std::min<std::chrono::nanoseconds>(plan.budget, std::chrono::seconds(4));
  return {plan, interrupt_};
}

// Half of the block's time: a contender that hangs takes no more than that from the others. Or the
// time of two slow operations, the one before the burst and the one in it; or that of ten bursts
// and no less than half a second, so that a small budget makes no contender that was merely not
// scheduled for a moment one that hangs.
std::chrono::nanoseconds Bench::patience(const Measurement& measurement) const {
  constexpr std::chrono::nanoseconds least = std::chrono::milliseconds(500);
  return std::max(
      {plan_.budget / 2, 2 * measurement.problem->slowest_operation(), 10 * plan_.burst, least});
}

void Bench::measure(std::vector<Measurement>& measurements, Progress& progress) {
  std::vector<Measurement*> all;
  for (Measurement& measurement : measurements) all.push_back(&measurement);
  const auto start = Clock::now();
  const auto deadline = start + plan_.budget;
  for (int launch = 0; launch < plan_.most_launches; ++launch) {
    const int planned = std::max(plan_.launches - launch, 1);
    const auto share = (deadline - Clock::now()) / planned;
    const bool extra = launch >= plan_.launches;
    if (extra && (share < (Clock::now() - start) / launch || tight(measurements))) break;
    const auto end = Clock::now() + std::max<Clock::duration>(share, Clock::duration::zero());
    add_launch(all, plan_.most_rounds, end, progress);
    if (!extra) progress.step();
  }
}

void Bench::add_launch(const std::vector<Measurement*>& measurements, int most_rounds,
                       Clock::time_point end, Progress& progress) {
  auto running = launch_all(measurements, progress);
  for (int r = 0; r < most_rounds && !running.empty(); ++r) {
    if (r >= plan_.least_rounds && Clock::now() >= end) break;
    round(running, progress);
  }
  finish(running);
}

void Bench::measure(std::vector<Measurement>& measurements) {
  Progress nobody;
  measure(measurements, nobody);
}

// Whether more launches would say nothing new: every interval reaches less far to either side than
// the least difference that a verdict calls one.
bool Bench::tight(const std::vector<Measurement>& measurements) const {
  constexpr int resamples = 500;
  return std::ranges::all_of(measurements, [&](const Measurement& measurement) {
    if (measurement.status != RowStatus::ok) return true;
    const Launches launches = metric_of(measurement);
    const Interval bounds = interval(resample(launches, plan_.seed, resamples));
    return bounds.high - bounds.low <= 2 * kLeastMargin * std::abs(typical(launches));
  });
}

void Bench::measure_once(Measurement& measurement, std::span<std::byte> answer) {
  build({&measurement});
  Running running{&measurement, launch(measurement)};
  if (running.launch == nullptr) return;
  if (const auto dropped = burst(running, std::chrono::nanoseconds(1))) {
    drop(measurement, *dropped);
    return;
  }
  std::copy_n(running.launch->answer().begin(), answer.size(), answer.begin());
}

// What was not asked for before; a session asks for all of its blocks.
void Bench::build(const std::vector<Measurement*>& measurements) {
  std::vector<Contender> contenders;
  for (const Measurement* measurement : measurements) contenders.push_back(measurement->contender);
  build_missing(contenders, interrupt_);
}

std::vector<Bench::Running> Bench::launch_all(const std::vector<Measurement*>& measurements,
                                              Progress& progress) {
  build(measurements);
  std::vector<Running> running;
  for (Measurement* measurement : measurements) {
    if (measurement->status != RowStatus::ok) continue;
    progress.show(name_of(*measurement));
    if (auto started = launch(*measurement)) running.push_back({measurement, std::move(started)});
  }
  return running;
}

// Started, prepared and standing still; nothing if it was dropped.
std::unique_ptr<Launch> Bench::launch(Measurement& measurement) {
  try {
    if (!measurement.contender.built()) {
      throw Dropped{RowStatus::unavailable, measurement.contender.why_not_built()};
    }
    const Layout layout = measurement.deck.deal(measurement.contender.executables.size(), layouts_);
    auto launch = std::make_unique<Launch>(measurement.contender, *measurement.problem,
                                           measurement.variables, layout, interrupt_);
    // Some start a job of processes first, whatever the budget.
    constexpr std::chrono::nanoseconds least = std::chrono::seconds(4);
    launch->prepare(measurement.cell, std::max(patience(measurement), least));
    launch->pause();
    measurement.launches.emplace_back();
    measurement.layouts.push_back(layout);
    return launch;
  } catch (const Dropped& dropped) {
    drop(measurement, dropped);
    return nullptr;
  }
}

void Bench::round(std::vector<Running>& running, Progress& progress) {
  std::mt19937_64 random(plan_.seed + rounds_++);
  std::ranges::shuffle(running, random);
  for (Running& turn : running) {
    progress.show(name_of(*turn.measurement));
    if (const auto dropped = burst(turn, plan_.burst)) {
      drop(*turn.measurement, *dropped);
      turn.launch.reset();
    }
  }
  std::erase_if(running, [](const Running& turn) { return turn.launch == nullptr; });
}

// One after the other, so that each stops undisturbed.
void Bench::finish(std::vector<Running>& running) {
  for (Running& one : running) {
    try {
      one.launch->resume();
      one.measurement->phases.push_back(one.launch->finish(patience(*one.measurement)));
    } catch (const Dropped& dropped) {
      drop(*one.measurement, dropped);
    }
    one.launch.reset();
  }
}

std::optional<Dropped> Bench::burst(Running& running, std::chrono::nanoseconds least) {
  Measurement& measurement = *running.measurement;
  try {
    running.launch->resume();
    const Reading reading = running.launch->burst(least, patience(measurement));
    running.launch->pause();
    const bool of_a_limit = measurement.contender.kind() == "limit";
    if (auto fault = measurement.problem->fault(of_a_limit, running.launch->answer())) {
      return Dropped{RowStatus::wrong, std::move(*fault)};
    }
    if (!std::isfinite(measurement.problem->metric(reading))) {
      return Dropped{RowStatus::failed, "reported no " + measurement.cell.metric()};
    }
    measurement.launches.back().push_back(reading);
    return {};
  } catch (const Dropped& dropped) {
    return dropped;
  }
}

namespace {

constexpr double most_apart = 1.2;

Measurement* measured(std::vector<Measurement>& measurements, const std::string& contender,
                      const Cell& cell) {
  const auto found = std::ranges::find_if(measurements, [&](const Measurement& measurement) {
    return measurement.contender.name == contender && measurement.cell == cell &&
           measurement.status == RowStatus::ok;
  });
  return found == measurements.end() ? nullptr : &*found;
}

}  // namespace

void calibrate(const std::vector<Calibration>& known, std::vector<Measurement>& measurements) {
  for (const Calibration& calibration : known) {
    Measurement* seed = measured(measurements, calibration.seed, calibration.cell);
    const Measurement* against = measured(measurements, calibration.against, calibration.cell);
    if (seed == nullptr || against == nullptr) continue;
    const double here = agreement(ratio(metric_of(*seed), metric_of(*against)), 0).value;
    const double apart = here / calibration.ratio;
    if (apart <= most_apart && apart >= 1 / most_apart) continue;
    seed->status = RowStatus::uncalibrated;
    seed->reason =
        fmt::format("its {} is {:.3g} times that of {}, known is {:.3g}", calibration.cell.metric(),
                    here, calibration.against, calibration.ratio);
  }
}

namespace {

double named(const std::map<std::string, double>& usage, const std::string& name) {
  const auto found = usage.find(name);
  return found == usage.end() ? 0 : found->second;
}

double ready_ns_of(const Reading& reading) {
  double ready_ns = 0;
  for (const ThreadTimeNames& names : thread_time_names) {
    ready_ns += named(reading.usage, names.ready);
  }
  return ready_ns;
}

}  // namespace

bool kept_their_cpus(const std::vector<Reading>& bursts) {
  constexpr double most_share = 0.01;  // half of what no verdict calls a difference
  constexpr double known_share = 0.95;  // of their CPU time: the books are a tick behind
  double wall_ns = 0;
  double ready_ns = 0;
  double cpu_ns = 0;
  double known_ns = 0;
  for (const Reading& reading : bursts) {
    wall_ns += reading.wall_ns;
    cpu_ns += reading.cpu_ns;
    ready_ns += ready_ns_of(reading);
    for (const ThreadTimeNames& names : thread_time_names) {
      known_ns += named(reading.usage, names.on_cpu);
    }
  }
  return known_ns > 0 && known_ns >= known_share * cpu_ns && ready_ns < most_share * wall_ns;
}

// A thread that is woken is ready for a moment too: only one that lost its CPU tells of others.
std::string preempted(const Measurement& measurement) {
  if (measurement.problem != nullptr && measurement.problem->threads_share_cpus()) return {};
  constexpr double least_share = 0.05;
  constexpr double least_switches_per_ns = 1 / 50e6;  // a quiet system has a few a second
  double wall_ns = 0;
  double ready_ns = 0;
  double switches = 0;
  for (const auto& bursts : measurement.launches) {
    for (const Reading& reading : bursts) {
      if (reading.latencies.empty()) continue;
      wall_ns += reading.wall_ns;
      switches += named(reading.usage, protocol::involuntary_switches);
      ready_ns += ready_ns_of(reading);
    }
  }
  if (ready_ns < least_share * wall_ns || switches < least_switches_per_ns * wall_ns) return {};
  if (!(wall_ns > 0)) return {};
  return fmt::format("its threads waited for a CPU for {:.0f} % of the time",
                     100 * ready_ns / wall_ns);
}

}  // namespace handoff::lab

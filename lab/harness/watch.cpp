// SPDX-License-Identifier: MIT
#include "harness/watch.hpp"

#include <handoff/sync/cpu_budget.hpp>

#include "harness/answer_problem.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

// As many multiply-adds as each thread counted for itself.
class Multiplying final : public ProblemWithoutInput {
 public:
  explicit Multiplying(int width) : width_(width) {}

  std::size_t answer_bytes() const override {
    return static_cast<std::size_t>(width_) * sizeof(double);
  }
  std::optional<std::string> fault(bool, std::span<const std::byte> answer) const override {
    std::vector<double> counts(static_cast<std::size_t>(width_));
    std::memcpy(counts.data(), answer.data(), answer_bytes());
    const bool same = std::ranges::all_of(
        counts, [&](double count) { return count > 0 && count == counts.front(); });
    if (same) return {};
    return "its threads did not do the same";
  }
  double metric(const Reading& reading) const override {
    return 2 * reading.items / reading.wall_ns;
  }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(1); }

 private:
  int width_;
};

Contender probe_of(const std::vector<Contender>& contenders) {
  const auto found = std::ranges::find_if(contenders, [](const Contender& c) {
    return c.scenario == "probe" && c.name == "limit.fma";
  });
  if (found == contenders.end()) {
    throw UserError("the machine's probe is missing; build or install the lab as a whole");
  }
  return *found;
}

Plan probing(const Plan& plan) {
  Plan short_one = plan;
  short_one.launches = 1;
  short_one.most_launches = 1;
  short_one.least_rounds = 3;
  short_one.most_rounds = 3;
  short_one.burst = std::chrono::milliseconds(6);
  return short_one;
}

void require_measured(const Measurement& measurement) {
  if (measurement.status == RowStatus::ok) return;
  throw std::runtime_error(fmt::format("the machine's probe: {}", measurement.reason));
}

// The fastest burst: a hiccup says nothing about the state that the machine is in.
double speed_of(const Measurement& measurement) {
  require_measured(measurement);
  const Launches launches = metric_of(measurement);
  return *std::ranges::max_element(launches.front());
}

}  // namespace

Watch::Watch(const std::vector<Contender>& contenders, const Plan& plan, Interrupt& interrupt)
    : contender_(probe_of(contenders)),
      bench_(probing(plan), interrupt),
      cpus_(static_cast<int>(sync::cpu_budget().width())) {
  constexpr int probes = 3;
  for (int i = 0; i < probes; ++i) static_cast<void>(probe());
  measure_floor(plan, interrupt);
}

void Watch::begin(KernelThreads kernel) {
  constexpr std::chrono::milliseconds fresh(1200);
  if (Clock::now() - probed_ > fresh) latest_ = probe();
  speed_before_ = latest_;
  kernel_ = kernel;
  before_ = look(kernel_);
}

Disturbance Watch::end() {
  const Look after = look(kernel_);
  constexpr std::chrono::seconds recent(1);  // a launch that is short shares it with others
  if (Clock::now() - probed_ > recent) latest_ = probe();
  const Speed slowest{std::min(latest_.one, speed_before_.one),
                      std::min(latest_.all, speed_before_.all)};
  return disturbance(before_, after, slowest, usual());
}

Speed Watch::usual() const { return {median(speeds_of_one_), median(speeds_of_all_)}; }

std::vector<Measurement> Watch::rows(std::size_t count, int width) const {
  Cell cell("speed");
  cell.set("width", std::to_string(width));
  const auto problem = std::make_shared<const Multiplying>(width);
  return {count, Measurement{contender_, cell, problem}};
}

Speed Watch::probe() {
  std::vector<Measurement> both = rows(1, 1);
  const std::vector<Measurement> on_all = rows(1, cpus_);
  both.insert(both.end(), on_all.begin(), on_all.end());
  bench_.measure(both);
  const Speed speed{speed_of(both[0]), speed_of(both[1])};
  speeds_of_one_.push_back(speed.one);
  speeds_of_all_.push_back(speed.all);
  probed_ = Clock::now();
  return speed;
}

// Each pair of them is a comparison of equals.
void Watch::measure_floor(const Plan& plan, Interrupt& interrupt) {
  constexpr std::size_t equals = 4;
  Plan as_planned = probing(plan);
  as_planned.launches = plan.launches;
  as_planned.most_launches = plan.launches;
  as_planned.burst = std::chrono::milliseconds(20);
  std::vector<Measurement> all = rows(equals, cpus_);
  Bench(as_planned, interrupt).measure(all);
  for (const Measurement& measurement : all) require_measured(measurement);
  for (std::size_t i = 0; i < equals; ++i) {
    for (std::size_t j = i + 1; j < equals; ++j) {
      const Agreement apart = agreement(ratio(metric_of(all[i]), metric_of(all[j])), 0);
      const Interval within = interval(apart.draws);
      floor_ = std::max(floor_, std::abs(apart.value - 1));
      certain_floor_ = std::max({certain_floor_, within.low - 1, 1 - within.high});
    }
  }
}

double wait_until_quiet(std::chrono::duration<double> most, Interrupt& interrupt,
                        const std::function<Look()>& look_now) {
  constexpr std::chrono::milliseconds window(500);
  constexpr int nothing = -1;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
  Progress progress(end);
  progress.show("waiting until others are quiet");
  for (;;) {
    const Look before = look_now();
    interrupt.wait_readable(nothing, Clock::now() + window);
    const Disturbance seen = disturbance(before, look_now(), {}, {});
    const double others = seen.foreign_cpus + seen.stolen_cpus;
    if (others < kQuietCpus || Clock::now() >= end) return others;
    progress.show(fmt::format("waiting until others are quiet: they take {:.1f} CPUs", others));
  }
}

}  // namespace handoff::lab

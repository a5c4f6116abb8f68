// SPDX-License-Identifier: MIT
// The interleaving loop: every contender of a block is launched, and then they take turns, burst by
// burst in random order, all but one stopped, every answer checked.
#pragma once

#include "harness/launch.hpp"
#include "harness/progress.hpp"
#include "harness/statistics.hpp"

namespace handoff::lab {

struct Plan {
  int launches = 5;
  int most_launches = 15;  // more than `launches` only until the intervals are tight
  int least_rounds = 1;  // of bursts in a launch, whatever the time
  int most_rounds = 5;
  std::chrono::nanoseconds burst = std::chrono::milliseconds(100);
  std::chrono::nanoseconds budget = std::chrono::seconds(20);  // for a block
  std::uint64_t seed = 0;
};

// One contender in one cell, and then what came out: burst by burst, launch by launch.
struct Measurement {
  Contender contender;
  Cell cell;
  std::shared_ptr<const Problem> problem;
  std::vector<Variable> variables = {};
  RowStatus status = RowStatus::ok;
  std::string reason = {};
  std::vector<std::vector<Reading>> launches = {};  // burst by burst; none unless status is ok
  std::vector<Phases> phases = {};  // launch by launch
  LayoutDeck deck = {};
  std::vector<Layout> layouts = {};  // launch by launch
};

// A figure of each burst.
template <typename Value>
Launches values_of(const Measurement& measurement, Value value) {
  Launches launches;
  for (const auto& bursts : measurement.launches) {
    auto& values = launches.emplace_back();
    for (const Reading& reading : bursts) values.push_back(value(reading));
  }
  return launches;
}

inline Launches metric_of(const Measurement& measurement) {
  return values_of(measurement,
                   [&](const Reading& reading) { return measurement.problem->metric(reading); });
}

// As if it had not been; nothing where there are fewer. The others move up.
void erase_launch(Measurement& measurement, std::size_t launch);
// With its reason, and without what was measured of it.
void drop(Measurement& measurement, const Dropped& dropped);

class Bench {
 public:
  Bench(Plan plan, Interrupt& interrupt)
      : plan_(plan), interrupt_(interrupt), layouts_(~plan.seed) {}

  // Measures the rows against each other. One that breaks is dropped with its reason, and the
  // others go on. All that are left have the same launches and rounds.
  void measure(std::vector<Measurement>& measurements, Progress& progress);
  void measure(std::vector<Measurement>& measurements);  // without showing it

  // One more launch of each, all in the same rounds: at most so many, and no further one after
  // `end` once there are the plan's least.
  void add_launch(const std::vector<Measurement*>& measurements, int most_rounds,
                  Clock::time_point end, Progress& progress);

  // One launch and the shortest burst, for its answer.
  void measure_once(Measurement& measurement, std::span<std::byte> answer);

  // The same with less repetition, for a choice between settings.
  [[nodiscard]] Bench quick() const;
  [[nodiscard]] const Plan& plan() const { return plan_; }

 private:
  struct Running {
    Measurement* measurement;
    std::unique_ptr<Launch> launch;
  };
  void build(const std::vector<Measurement*>& measurements);
  std::vector<Running> launch_all(const std::vector<Measurement*>& measurements,
                                  Progress& progress);
  std::unique_ptr<Launch> launch(Measurement& measurement);
  void round(std::vector<Running>& running, Progress& progress);
  std::optional<Dropped> burst(Running& running, std::chrono::nanoseconds least);
  void finish(std::vector<Running>& running);
  [[nodiscard]] bool tight(const std::vector<Measurement>& measurements) const;
  [[nodiscard]] std::chrono::nanoseconds patience(const Measurement& measurement) const;

  Plan plan_;
  Interrupt& interrupt_;
  std::uint64_t rounds_ = 0;
  std::mt19937_64 layouts_;
};

// Whether an article's scheme, re-made here, behaves as its article says: if not, its rows must not
// stand for it.
// Rows of one block. A seed whose ratio is further than 20 % from the known one is uncalibrated.
void calibrate(const std::vector<Calibration>& known, std::vector<Measurement>& measurements);

// What other programs took from a contender's threads, by the scheduler's books.
// Whether a launch's threads had a CPU next to whenever they wanted one: in its bursts they waited
// for less than a hundredth of the time. False where the kernel does not say, or only of some of
// the threads that ran: of those that came and went in a burst nobody knows.
[[nodiscard]] bool kept_their_cpus(const std::vector<Reading>& bursts);

// Latencies of threads that had no CPU are marked, so that nobody takes them for the contender's:
// what others took, the scheduler put into them. Why they are not its own; empty: they are, or it
// measured none.
[[nodiscard]] std::string preempted(const Measurement& measurement);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// What other programs took from a contender's threads, by the scheduler's books.
#include "harness/bursts.hpp"

#include <fmt/format.h>

#include "harness/protocol.hpp"
#include "harness/scenario.hpp"
#include "harness/thread_times.hpp"

namespace handoff::lab {
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

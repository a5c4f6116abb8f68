// SPDX-License-Identifier: MIT
// The scenario `spawn`: what it costs to start a thread, the dearest way to hand work over to one's
// own process, or a process, to have a job done by another process, to claim rows of a
// common table, and to map memory that processes share.
#include "scenarios/registry.hpp"

#include <handoff/sync/cpu_budget.hpp>

#include "scenarios/rules.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn { namespace {

// `all` of these were to come, or be done; the metric of a reading is its own.
std::shared_ptr<const Problem> counted(std::uint64_t all, const char* what,
                                       std::function<double(const Reading&)> metric) {
  return problem_by<std::uint64_t>({.fault = [all, what](const std::uint64_t& right) -> Wrong {
                                      if (right == all) return {};
                                      return fmt::format(fmt::runtime(what), right, all);
                                    },
                                    .metric = std::move(metric),
                                    .slowest_operation = std::chrono::seconds(10)});
}

std::shared_ptr<const Problem> problem_of(const Cell& cell) {
  const std::string& metric = cell.metric();
  const auto us = [](const Reading& reading) { return reading.ns_per_item() / 1e3; };
  if (metric == "ready") return counted(workers, "{} workers came of {}", us);
  if (metric == "job") return counted(jobs_alone, "{} jobs were done of {}", us);
  if (metric == "attach") return counted(looks, "{} words were read of {}", us);
  if (metric == "jobs") {
    return counted(jobs_together, "{} jobs were done of {}",
                   [](const Reading& reading) { return 1e9 / reading.ns_per_item(); });
  }
  if (metric == "thread") {
    return counted(threads, "{} threads ran of {}", &Reading::ns_per_item);
  }
  // What a claim costs is time of CPUs: claims that are made side by side are no cheaper for that.
  const auto cpus = static_cast<double>(
      std::min<std::uint64_t>(cell.number("width"), sync::cpu_budget().width()));
  return counted(cell.number("rows"), "{} rows of {} were done once in each run",
                 [cpus](const Reading& reading) { return reading.ns_per_item() * cpus; });
}

}}  // namespace handoff::lab::spawn

handoff::lab::ScenarioTable handoff::lab::spawn_scenario() {
  using namespace spawn;
  return {
      .name = "spawn",
      .summary =
          "a thread or a worker process started, jobs done by processes, rows claimed by them, and "
          "memory of another process mapped",
      .metrics = {{"thread", "ns", false,
                   "a thread that stores a word, from its start until its starter knows that it "
                   "has ended"},
                  {"ready", "us", false,
                   "a worker process, from the request until its parent knows that it works"},
                  {"job", "us", false,
                   "an empty job, from the hand-over to another process until its answer is there"},
                  {"jobs", "jobs/s", true,
                   "empty jobs done and answered by other processes, 64 at a time"},
                  {"claim", "ns", false,
                   "a row of almost no work claimed, some at a time, and written: CPUs x time of "
                   "a run, divided by its rows"},
                  {"attach", "us", false,
                   "1 MiB of memory of another process opened, mapped, its first word read, and "
                   "unmapped"}},
      .parameters =
          {{"gib", "of memory that the parent has written to", {"0", "1"}, {}, 0, 64, {"ready"}},
           {"rows", "of a run", {"65536"}, {}, 1, 524288, {"claim"}},
           {"width", "workers", {"2", "64"}, {}, 1, 64, {"claim"}}},
      .problem = problem_of};
}

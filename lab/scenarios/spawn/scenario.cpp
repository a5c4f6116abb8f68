// SPDX-License-Identifier: MIT
// The scenario `spawn`: what it costs to start a thread, the dearest way to hand work over to one's
// own process, or a process, to have a job done by another process, to claim rows of a
// common table, and to map memory that processes share.
#include "scenarios/registry.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <handoff/sync/cpu_budget.hpp>

#include "harness/answer_problem.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn { namespace {

// An answer is how many did what they were to do.
class Counted final : public AnswerProblem<std::uint64_t> {
 public:
  Counted(std::uint64_t all, const char* what, double ns_of_unit, bool is_rate = false)
      : all_(all), what_(what), ns_of_unit_(ns_of_unit), is_rate_(is_rate) {}

  double metric(const Reading& reading) const override {
    return is_rate_ ? ns_of_unit_ / reading.ns_per_item() : reading.ns_per_item() / ns_of_unit_;
  }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  std::optional<std::string> fault_of(const std::uint64_t& right) const override {
    if (right == all_) return {};
    return fmt::format("{} {} of {}", right, what_, all_);
  }

  std::uint64_t all_;
  const char* what_;
  double ns_of_unit_;
  bool is_rate_;
};

// What a claim costs is time of CPUs: claims that are made side by side are no cheaper for that.
class Claimed final : public AnswerProblem<std::uint64_t> {
 public:
  Claimed(std::uint64_t rows, std::uint64_t width)
      : rows_(rows),
        cpus_(static_cast<double>(std::min<std::uint64_t>(width, sync::cpu_budget().width()))) {}

  double metric(const Reading& reading) const override { return reading.ns_per_item() * cpus_; }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  std::optional<std::string> fault_of(const std::uint64_t& right) const override {
    if (right == rows_) return {};
    return fmt::format("{} rows of {} were done once in each run", right, rows_);
  }

  std::uint64_t rows_;
  double cpus_;
};

std::shared_ptr<const Problem> problem_of(const Cell& cell) {
  if (cell.metric() == "ready") return std::make_shared<Counted>(workers, "workers came", 1e3);
  if (cell.metric() == "job") return std::make_shared<Counted>(jobs_alone, "jobs were done", 1e3);
  if (cell.metric() == "jobs") {
    return std::make_shared<Counted>(jobs_together, "jobs were done", 1e9, true);
  }
  if (cell.metric() == "claim") {
    return std::make_shared<Claimed>(cell.number("rows"), cell.number("width"));
  }
  if (cell.metric() == "attach") return std::make_shared<Counted>(looks, "words were read", 1e3);
  return std::make_shared<Counted>(threads, "threads ran", 1);
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
                   "a row of almost no work claimed, eight at a time, and written: CPUs x time of "
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

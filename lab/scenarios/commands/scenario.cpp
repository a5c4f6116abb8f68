// SPDX-License-Identifier: MIT
// The scenario `commands`: what it costs to record a frame's commands by many threads, to sort them
// by key, and to dispatch them in that order.
#include "scenarios/commands/work.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::commands { namespace {

std::shared_ptr<const Problem> recording(const Cell& cell) {
  const std::uint64_t calls = cell.number("calls");
  return problem_by<Answer>(
      {.fault = [calls, sum = sum_of_all(calls)](const Answer& answer) -> Wrong {
         const std::uint64_t wanted = answer.operations * calls;
         if (answer.commands != wanted) {
           return fmt::format("dispatched {} commands of {}", answer.commands, wanted);
         }
         if (answer.sum != answer.operations * sum) return "the hash of all arguments is wrong";
         if (answer.misplaced == 0) return {};
         return fmt::format("{} commands came out of their order", answer.misplaced);
       },
       .metric =
           [metric = cell.metric()](const Reading& reading) {
             constexpr double ns_per_ms = 1e6;
             if (metric == "shared_rmw") return reading.figure("shared_rmw");
             return metric == "frame" ? reading.ns_per_item() / ns_per_ms : reading.ns_per_item();
           },
       .slowest_operation = std::chrono::seconds(30)});
}

Cell cell_of(const char* metric, const char* threads) {
  return Cell(metric,
              {{"threads", threads}, {"calls", "40000"}, {"key_bits", "64"}, {"work", "0"}});
}

constexpr auto title = "Stateless, layered, multi-threaded rendering, part 4 (i7-2600K): ";
constexpr auto work = "there with other work of each component, of unknown length";

Article adding_alone() {
  return {std::string(title) + "adding 40,000 commands on one thread",
          cell_of("add", "1"),
          {{"version 1 (ST, global new)", 6.65, work, "seed.v1"},
           {"version 2 (ST, linear)", 4.55, work, "seed.v2"}}};
}

Article adding_together() {
  const std::string cores = "8 threads on 4 cores there, 2 here";
  return {std::string(title) + "adding 40,000 commands on all threads",
          cell_of("add", "2"),
          {{"version 3 (MT, global new)", 1.85, work, "seed.v3", cores},
           {"version 4 (MT, linear)", 1.72, work, "seed.v4", cores},
           {"version 5 (MT, linear, size aligned to 64)", 1.65, work, "seed.v5", cores},
           {"version 6 (MT, thread-local linear)", 1.45, work, "seed.v6", cores},
           {"version 7 (MT, thread-local linear & bucket)", 1.25, work, "seed.v7", cores}}};
}

Article dispatching() {
  return {std::string(title) + "dispatching 40,000 commands",
          cell_of("submit", "2"),
          {{"version 3 (MT, global new)", 0.7, "", "seed.v3"},
           {"version 4 (MT, linear)", 0.7, "", "seed.v4"},
           {"version 5 (MT, linear, size aligned to 64)", 0.9, "", "seed.v5"},
           {"version 6 (MT, thread-local linear)", 0.7, "", "seed.v6"},
           {"version 7 (MT, thread-local linear & bucket)", 0.7, "", "seed.v7"}}};
}

std::vector<Article> articles() { return {adding_alone(), adding_together(), dispatching()}; }

// There a command took 7 ns by version 1 and 2.2 by version 2 on one thread; 49 by version 4 and 45
// by version 5 on two, which share the same word. The article's own times are of other work too,
// and on four cores; those of the other versions hang on how far apart two cores are.
std::vector<Calibration> calibrations() {
  return {{"seed.v1", "seed.v2", cell_of("add", "1"), 7 / 2.2},
          {"seed.v5", "seed.v4", cell_of("add", "2"), 45.0 / 49}};
}

}}  // namespace handoff::lab::commands

handoff::lab::ScenarioTable handoff::lab::commands_scenario() {
  using namespace commands;
  return {
      .name = "commands",
      .summary = "a frame's commands, recorded by threads, sorted by key, dispatched in that order",
      .metrics = {{"add", "ns", false,
                   "a command recorded: its arguments written in place, with a key or appended; "
                   "all threads begin together"},
                  {"sort", "ns", false, "a command sorted by its key, in three buckets"},
                  {"submit", "ns", false,
                   "a command dispatched in the order of keys; all its arguments are hashed"},
                  {"frame", "ms", false, "a whole frame: added, sorted and dispatched once"},
                  {"command", "ns", false, "a command of such a whole frame"},
                  {"shared_rmw", "operations", false,
                   "a command that is added: read-modify-writes of memory that threads share, on "
                   "any number of cores"}},
      .parameters =
          {{"threads", "threads that take part", {"1", "2", "8"}, {}, 1, 64},
           {"calls", "commands of a frame, a multiple of 200", {"40000"}, {}, 200, 4'000'000},
           {"key_bits", "of a key", {"64"}, {"16", "32", "64"}},
           Parameter::number("work", "rounds of other work for each component, about 2 ns each",
                             {"0"}, 0, 10'000),
           Parameter::one_of("keys", "64 materials and 4096 depths, or all bits at random",
                             {"article", "random"}, {"sort"})},
      .problem = recording,
      .articles = articles(),
      .calibrations = calibrations()};
}

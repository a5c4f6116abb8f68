// SPDX-License-Identifier: MIT
// The scenario `machine`: what the machine itself takes for that of which hand-overs are made.
#include "scenarios/machine/answer.hpp"
#include "scenarios/machine/chase.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::machine { namespace {

// `what` was to be done, so many times, and it has to come to a result.
std::shared_ptr<const Problem> bare(const char* what, std::uint64_t count,
                                    std::function<std::uint64_t(const Answer&)> result_after) {
  return problem_by<Answer>({.fault = [=](const Answer& answer) -> Wrong {
                               if (answer.count != count) {
                                 return fmt::format("did {} {}, asked for were {}", answer.count,
                                                    what, count);
                               }
                               const std::uint64_t right = result_after(answer);
                               if (answer.result == right) return {};
                               return fmt::format("after {} {} its result is {}, not {}", count,
                                                  what, answer.result, right);
                             },
                             .slowest_operation = std::chrono::seconds(10)});
}

std::shared_ptr<const Problem> problem_of(const Cell& cell) {
  if (cell.metric() == "cache_miss") {
    return bare("loads", loads, [chase = Chase(chase_bytes() / line_bytes)](const Answer& answer) {
      return chase.line_at(answer.before + answer.count);
    });
  }
  if (cell.metric() == "line_transfer") {
    return bare("ways of a line", 2 * round_trips,
                [](const Answer& answer) { return answer.count; });
  }
  // This process is the parent that each call was to return.
  return bare("calls", calls, [](const Answer& answer) {
    return answer.count * static_cast<std::uint64_t>(getpid());
  });
}

}}  // namespace handoff::lab::machine

handoff::lab::ScenarioTable handoff::lab::machine_scenario() {
  using namespace machine;
  return {
      .name = "machine",
      .summary = "costs of the machine itself, to compare with hand-overs",
      .metrics = {{"cache_miss", "ns", false,
                   "a load from memory, far beyond the caches, from the address that the load "
                   "before it read"},
                  {"line_transfer", "ns", false,
                   "a cache line moved from one core to another: half of a round trip"},
                  {"system_call", "ns", false, "a system call that does almost nothing: getppid"}},
      .parameters = {},
      .problem = problem_of};
}

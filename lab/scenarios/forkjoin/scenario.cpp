// SPDX-License-Identifier: MIT
// `forkjoin`: what it costs to make a task of a part of a problem and to wait for it.
#include "peers/serial.hpp"
#include "scenarios/forkjoin/problems.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::forkjoin { namespace {

std::shared_ptr<const Problem> division(const Cell& cell) {
  constexpr std::uint64_t slowest_fork_ns = 20'000;
  peers::Serial serial;
  const Answer right = solve(serial, cell.at("problem"));
  return problem_by<Answer>(
      {.fault = [right](const Answer& answer) -> Wrong {
         if (answer.forks != right.forks) {
           return fmt::format("ran {} tasks of {}", answer.forks, right.forks);
         }
         if (answer.value == right.value) return {};
         return fmt::format("its answer is {}, not {}", answer.value, right.value);
       },
       .slowest_operation = std::chrono::nanoseconds(right.forks * slowest_fork_ns)});
}

}}  // namespace handoff::lab::forkjoin

handoff::lab::ScenarioTable handoff::lab::forkjoin_scenario() {
  using namespace forkjoin;
  return {
      .name = "forkjoin",
      .summary = "problems that divide, each part a task of its own, down to the smallest",
      .metrics = {{"ns_per_fork", "ns", false, "a task made, run and waited for, with its work"}},
      .parameters =
          {Parameter::one_of(
               "problem",
               "fib: fib(27); nqueens: 11 queens; tree: nodes of 0 to 3 children, as a hash says",
               {"fib", "nqueens", "tree"}),
           {"width", "threads that execute, the caller included", {"2"}, {}, 1, 64}},
      .problem = division};
}

// SPDX-License-Identifier: MIT
// `forkjoin`: what it costs to make a task of a part of a problem and to wait for it.
#include "scenarios/registry.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/forkjoin/problems.hpp"

namespace handoff::lab::forkjoin { namespace {

class Division final : public AnswerProblem<Answer> {
 public:
  explicit Division(const Cell& cell) {
    Serial serial;
    right_ = solve(serial, cell.at("problem"));
  }

  std::chrono::nanoseconds slowest_operation() const override {
    constexpr std::uint64_t slowest_fork_ns = 20'000;
    return std::chrono::nanoseconds(right_.forks * slowest_fork_ns);
  }

 private:
  std::optional<std::string> fault_of(const Answer& answer) const override {
    if (answer.forks != right_.forks) {
      return fmt::format("ran {} tasks of {}", answer.forks, right_.forks);
    }
    if (answer.value != right_.value) {
      return fmt::format("its answer is {}, not {}", answer.value, right_.value);
    }
    return {};
  }

  Answer right_{};
};

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
      .problem = [](const Cell& cell) { return std::make_shared<Division>(cell); }};
}

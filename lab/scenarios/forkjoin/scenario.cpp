// SPDX-License-Identifier: MIT
#include "scenarios/forkjoin/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/forkjoin/problems.hpp"

namespace handoff::lab::forkjoin {
namespace {

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

class ForkJoin final : public Scenario {
 public:
  std::string name() const override { return "forkjoin"; }
  std::string summary() const override {
    return "problems that divide, each part a task of its own, down to the smallest";
  }

  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"ns_per_fork", "ns", false, "a task made, run and waited for, with its work"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters{
        {"problem",
         "fib: fib(27); nqueens: 11 queens; tree: nodes of 0 to 3 children, as a hash says",
         {"fib", "nqueens", "tree"},
         {"fib", "nqueens", "tree"}},
        {"width", "threads that execute, the caller included", {"2"}, {}, 1, 64}};
    return parameters;
  }

  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    return std::make_shared<Division>(cell);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<ForkJoin>(); }

}  // namespace handoff::lab::forkjoin

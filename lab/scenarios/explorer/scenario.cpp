// SPDX-License-Identifier: MIT
#include "scenarios/explorer/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/explorer/answer.hpp"

namespace handoff::lab::explorer {
namespace {

class Search final : public AnswerProblem<Answer> {
 public:
  double metric(const Reading& reading) const override { return 1e9 / reading.ns_per_item(); }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  std::optional<std::string> fault_of(const Answer& answer) const override {
    if (answer.is_right == 1 && answer.final_states == final_states &&
        answer.steps >= fewest_steps) {
      return {};
    }
    return fmt::format("found {} final states of {} in {} steps each, {} of them are needed{}",
                       answer.final_states, final_states, answer.steps, fewest_steps,
                       answer.is_right == 1 ? "" : ", and was cut or failed");
  }
};

class Explorer final : public Scenario {
 public:
  std::string name() const override { return "explorer"; }
  std::string summary() const override {
    return "every schedule of two producers and a consumer at one ring, within two deviations";
  }
  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"executions_per_s", "executions/s", true, "of a program of 60 steps and some"}};
    return metrics;
  }
  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> none;
    return none;
  }
  std::shared_ptr<const Problem> problem(const Cell& /*cell*/) override {
    return std::make_shared<Search>();
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Explorer>(); }

}  // namespace handoff::lab::explorer

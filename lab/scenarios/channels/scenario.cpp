// SPDX-License-Identifier: MIT
#include "scenarios/channels/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/channels/work.hpp"

namespace handoff::lab::channels {
namespace {

class Exchange final : public AnswerProblem<Answer> {
 public:
  Exchange() {
    for (std::uint64_t i = 0; i < messages; ++i) sum_ += weight(message(i));
  }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(20); }

 private:
  std::optional<std::string> fault_of(const Answer& answer) const override {
    if (answer.count != messages) {
      return fmt::format("received {} messages of {}", answer.count, messages);
    }
    if (answer.sum != sum_) return "received some messages twice or damaged, and others not at all";
    return {};
  }

  std::uint64_t sum_ = 0;
};

class Channels final : public Scenario {
 public:
  std::string name() const override { return "channels"; }
  std::string summary() const override {
    return "64 bytes from thread to thread, through a queue of 1024";
  }
  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"message", "ns", false,
         "a message: pushed by one of `producers`, popped by one of `consumers`, one at a time"}};
    return metrics;
  }
  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters{
        {"producers", "threads that push", {"1"}, {}, 1, 64, {"message"}},
        {"consumers", "threads that pop", {"1"}, {}, 1, 64, {"message"}}};
    return parameters;
  }
  std::shared_ptr<const Problem> problem(const Cell& /*cell*/) override {
    return std::make_shared<Exchange>();
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Channels>(); }

}  // namespace handoff::lab::channels

// SPDX-License-Identifier: MIT
#include "scenarios/spawn/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {
namespace {

class Threads final : public AnswerProblem<std::uint64_t> {
 public:
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  std::optional<std::string> fault_of(const std::uint64_t& ran) const override {
    if (ran == threads) return {};
    return fmt::format("{} threads ran of {}", ran, threads);
  }
};

class Spawn final : public Scenario {
 public:
  std::string name() const override { return "spawn"; }
  std::string summary() const override {
    return "a thread started for a piece of work, and ended after it";
  }
  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"thread", "ns", false,
         "a thread started, which stores a word, until its starter knows that it has ended"}};
    return metrics;
  }
  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> none;
    return none;
  }
  std::shared_ptr<const Problem> problem(const Cell& /*cell*/) override {
    return std::make_shared<Threads>();
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Spawn>(); }

}  // namespace handoff::lab::spawn

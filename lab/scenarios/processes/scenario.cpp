// SPDX-License-Identifier: MIT
#include "scenarios/processes/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/processes/work.hpp"

namespace handoff::lab::processes {
namespace {

class Exchange final : public AnswerProblem<Answer> {
 public:
  explicit Exchange(const Cell& cell)
      : metric_(cell.metric()),
        bytes_(cell.number("bytes")),
        messages_(messages_of(metric_, bytes_)) {}

  double metric(const Reading& reading) const override {
    if (metric_ == "wake") return reading.figure("p50") / 1e3;
    return metric_ == "throughput" ? 1e9 / reading.ns_per_item() : reading.ns_per_item();
  }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(20); }
  // The kernel wakes a process on the CPU of the one that looks for its answer, or on another.
  bool threads_share_cpus() const override { return metric_ == "wake"; }

 private:
  std::optional<std::string> fault_of(const Answer& answer) const override {
    if (answer.received != messages_) {
      return fmt::format("received {} messages of {}", answer.received, messages_);
    }
    if (answer.wrong != 0) {
      return fmt::format("{} messages were damaged, or not those that were sent", answer.wrong);
    }
    if (answer.sum != weight_of(answer.first, messages_, bytes_)) {
      return "received other messages than those that were sent";
    }
    return {};
  }

  std::string metric_;
  std::size_t bytes_;
  std::uint64_t messages_;
};

class Processes final : public Scenario {
 public:
  std::string name() const override { return "processes"; }
  std::string summary() const override {
    return "messages of some bytes from one process to another, each written and read";
  }
  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"latency", "ns", false,
         "a message to the other process: half of a round trip, one message at a time"},
        {"throughput", "messages/s", true,
         "messages from one process to the other, one after the other, until all are read"},
        {"wake", "us", false,
         "median from the send of a message until the other process, which slept, has it"}};
    return metrics;
  }
  const std::vector<Parameter>& parameters() const override {
    static const std::vector<std::string> sizes{"8", "64", "4096", "1048576"};
    static const std::vector<Parameter> parameters{
        {"bytes", "of a message", {"8", "4096"}, sizes, 0, 0, {"latency", "throughput"}},
        {"bytes", "of a message", {"8"}, sizes, 0, 0, {"wake"}}};
    return parameters;
  }
  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    return std::make_shared<Exchange>(cell);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Processes>(); }

}  // namespace handoff::lab::processes

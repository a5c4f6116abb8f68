// SPDX-License-Identifier: MIT
// The scenario `processes`: what a message costs on its way from process to process.
#include "scenarios/registry.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/processes/work.hpp"

namespace handoff::lab::processes { namespace {

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

}}  // namespace handoff::lab::processes

handoff::lab::ScenarioTable handoff::lab::processes_scenario() {
  using namespace processes;
  const std::vector<std::string> sizes{"8", "64", "4096", "1048576"};
  return {.name = "processes",
          .summary = "messages of some bytes from one process to another, each written and read",
          .metrics =
              {{"latency", "ns", false,
                "a message to the other process: half of a round trip, one message at a time"},
               {"throughput", "messages/s", true,
                "messages from one process to the other, one after the other, until all are read"},
               {"wake", "us", false,
                "median from the send of a message until the other process, which slept, has it"}},
          .parameters = {Parameter::one_of("bytes", "of a message", sizes,
                                           {"latency", "throughput"}, {"8", "4096"}),
                         Parameter::one_of("bytes", "of a message", sizes, {"wake"}, {"8"})},
          .problem = [](const Cell& cell) { return std::make_shared<Exchange>(cell); }};
}

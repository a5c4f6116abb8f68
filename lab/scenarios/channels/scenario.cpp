// SPDX-License-Identifier: MIT
// The scenario `channels`: what a message costs on its way from thread to thread.
#include "scenarios/registry.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/channels/work.hpp"

namespace handoff::lab::channels { namespace {

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

}}  // namespace handoff::lab::channels

handoff::lab::ScenarioTable handoff::lab::channels_scenario() {
  using namespace channels;
  return {.name = "channels",
          .summary = "64 bytes from thread to thread, through a queue of 1024",
          .metrics = {{"message", "ns", false,
                       "a message: pushed by one of `producers`, popped by one of `consumers`, one "
                       "at a time"}},
          .parameters = {{"producers", "threads that push", {"1"}, {}, 1, 64, {"message"}},
                         {"consumers", "threads that pop", {"1"}, {}, 1, 64, {"message"}}},
          .problem = [](const Cell& /*cell*/) { return std::make_shared<Exchange>(); }};
}

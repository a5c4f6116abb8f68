// SPDX-License-Identifier: MIT
// The scenario `channels`: what a message costs on its way from thread to thread.
#include "scenarios/channels/work.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::channels { namespace {

std::shared_ptr<const Problem> exchange(const Cell& /*cell*/) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < messages; ++i) sum += weight(message(i));
  return problem_by<Answer>({.fault = [sum](const Answer& answer) -> Wrong {
    if (answer.count != messages) {
      return fmt::format("received {} messages of {}", answer.count, messages);
    }
    if (answer.sum != sum) return "received some messages twice or damaged, and others not at all";
    return {};
  }});
}

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
          .problem = exchange};
}

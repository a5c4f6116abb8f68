// SPDX-License-Identifier: MIT
// Makes a task of the lab's parameters, with a second thread alive beside it: without one the C++
// library leaves out atomic operations that a program with threads pays for.
#include "scenarios/events/contender.hpp"
#include "peers/threads.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  struct State {
    explicit State(const Parameters& given) : task(given, sum) {
      // The processes of that metric each have their own.
      if (task.metric != "second_queue") second.emplace();
      operation = events::contender(task);
    }
    alignas(peers::kApart) std::uint64_t sum = 0;
    alignas(peers::kApart) events::Task task;
    std::optional<events::SecondThread> second;
    Operation operation;
  };
  return answering([state = std::make_shared<State>(parameters)](Burst& burst) {
    const events::Task& task = state->task;
    state->sum = 0;
    state->operation(burst);
    burst.items(static_cast<double>(
        task.metric == "invoke" ? events::passes(task.listeners) * task.listeners : task.count));
    return state->sum;
  });
}

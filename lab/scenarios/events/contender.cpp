// SPDX-License-Identifier: MIT
// From the lab's parameters to a task, with a second thread alive beside it: without one the C++
// library leaves out atomic operations that a program with threads pays for.
#include "scenarios/events/contender.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>

namespace handoff::lab {

namespace {

struct State {
  events::Task task;
  events::Operation operation;
  std::uint64_t sum = 0;
  std::jthread second{[](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any asleep;
    std::unique_lock lock(mutex);
    asleep.wait(lock, stop, [] { return false; });
  }};
};

}  // namespace

Prepared prepare(const Parameters& parameters, std::span<const std::byte> /*input*/) {
  auto state = std::make_shared<State>();
  state->task = {parameters.text("metric"), parameters.number("listeners", 1),
                 parameters.number("count", 1), parameters.number("ids", 1), &state->sum};
  state->operation = events::contender(state->task);
  const events::Task& task = state->task;
  const double items = static_cast<double>(
      task.metric == "invoke" ? events::passes(task.listeners) * task.listeners : task.count);
  return {[state, items](Burst& burst) {
            state->sum = 0;
            state->operation();
            burst.items(items);
          },
          std::as_writable_bytes(std::span(&state->sum, 1))};
}

}  // namespace handoff::lab

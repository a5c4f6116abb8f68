// SPDX-License-Identifier: MIT
// A vector of functions, called one after the other: no thread may add or remove. Its queue is a
// vector too.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {

using Function = std::function<void(const Payload&)>;

Operation contender(const Task& task) {
  const auto functions = std::make_shared<std::vector<Function>>();
  const std::size_t count = task.metric == "invoke" ? task.listeners : task.ids;
  for (std::size_t i = 0; i < count; ++i) {
    functions->emplace_back([i, sum = task.sum](const Payload& p) { *sum += heard(i, p); });
  }
  if (task.metric == "invoke") {
    return [&task, functions] {
      run_passes(task, [&](const Payload& payload) {
        for (const Function& function : *functions) function(payload);
      });
    };
  }
  const auto queue = std::make_shared<std::vector<std::pair<int, Payload>>>();
  return [&task, functions, queue, calls = task.metric == "enqueue_process"] {
    enqueue_all(task, [&](int key, const Payload& payload) { queue->emplace_back(key, payload); });
    for (const auto& [key, payload] : *queue) {
      if (calls) {
        (*functions)[static_cast<std::size_t>(key)](payload);
      } else {
        *task.sum += heard(static_cast<std::uint64_t>(key), payload);
      }
    }
    queue->clear();
  };
}

}  // namespace handoff::lab::events

// SPDX-License-Identifier: MIT
// This library: CallbackList, and EventQueue to its listeners or to a visitor.
#include <memory>

#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_queue.hpp>

#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {

using List = CallbackList<void(const Payload&)>;
using Queue = EventQueue<int, void(const Payload&)>;

Operation contender(const Task& task) {
  if (task.metric == "invoke") {
    const auto list = std::make_shared<List>();
    for (std::size_t i = 0; i < task.listeners; ++i) {
      list->append([i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
    }
    return [&task, list] { run_passes(task, [&](const Payload& payload) { (*list)(payload); }); };
  }
  const auto queue = std::make_shared<Queue>();
  for (std::size_t i = 0; i < task.ids; ++i) {
    queue->append_listener(static_cast<int>(i), [i, sum = task.sum](const Payload& payload) {
      *sum += heard(i, payload);
    });
  }
  const auto enqueue = [queue](int key, const Payload& payload) {
    if (queue->enqueue(key, payload) != Status::ok) throw std::runtime_error("refused");
  };
  if (task.metric == "enqueue_process") {
    return [&task, queue, enqueue] {
      enqueue_all(task, enqueue);
      queue->process();
    };
  }
  return [&task, queue, enqueue] {
    enqueue_all(task, enqueue);
    queue->process_with([sum = task.sum](int key, const Payload& payload) {
      *sum += heard(static_cast<std::uint64_t>(key), payload);
    });
  };
}

}  // namespace handoff::lab::events

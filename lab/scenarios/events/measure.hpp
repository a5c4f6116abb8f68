// SPDX-License-Identifier: MIT
// Measures a queue in the metrics of `events`. A contender's Queue is made from a task and has
//
//   void listen(int key, f)         f(payload) is called for events of this key; keys are 0, 1, ...
//   void enqueue(int key, payload)  by any thread, unless the metric has one producer
//   void process()                  gives all that is there to its listeners
//   void visit(f)                   gives it to f(key, payload); where it has no such thing, not
//   void await()                    until there may be something, as task.spins says; a queue
//                                   without it is polled
//
// What it cannot do is not asked of it (WHEN in CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "scenarios/events/active_object.hpp"
#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {

namespace detail {

struct AnyVisitor {
  void operator()(int /*key*/, const Payload& /*payload*/) const {}
};

template <class Queue>
void listen_to_all(const Task& task, Queue& queue) {
  for (std::size_t i = 0; i < task.ids; ++i) {
    queue.listen(static_cast<int>(i),
                 [i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
}

template <class Queue>
void enqueue_all(const Task& task, Queue& queue) {
  int key = 0;
  for (std::size_t i = 0; i < task.count; ++i) {
    queue.enqueue(key, payload(i));
    if (static_cast<std::size_t>(++key) == task.ids) key = 0;
  }
}

}  // namespace detail

template <class Queue>
Operation measure(const Task& task) {
  if (task.metric == "second_queue") {
    return second_queue<Queue>(task, [&task](Queue& queue) {
      detail::listen_to_all(task, queue);
      detail::enqueue_all(task, queue);
      queue.process();
    });
  }
  if (task.metric == "throughput" || is_latency(task.metric)) return active_object<Queue>(task);
  const auto queue = std::make_shared<Queue>(task);
  if (task.metric == "enqueue_process") {
    detail::listen_to_all(task, *queue);
    return [&task, queue](Burst&) {
      detail::enqueue_all(task, *queue);
      queue->process();
    };
  }
  if constexpr (requires { queue->visit(detail::AnyVisitor()); }) {
    if (task.metric == "enqueue_visit") {
      return [&task, queue](Burst&) {
        detail::enqueue_all(task, *queue);
        queue->visit([sum = task.sum](int key, const Payload& payload) {
          *sum += heard(static_cast<std::uint64_t>(key), payload);
        });
      };
    }
  }
  throw Unavailable("it has no way to do that");
}

}  // namespace handoff::lab::events

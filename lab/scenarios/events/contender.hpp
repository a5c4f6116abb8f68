// SPDX-License-Identifier: MIT
// What a contender of `events` writes: one function that makes the operation of a metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/events/work.hpp"

namespace handoff::lab::events {

struct Task {
  std::string metric;     // invoke, enqueue_process, enqueue_visit
  std::size_t listeners;  // of the list, for invoke
  std::size_t count;      // events in the queue at once
  std::size_t ids;        // keys, each with one listener; event i has the key i % ids
  std::uint64_t* sum;     // listeners add to it
};

// For invoke: calls all listeners `passes(task.listeners)` times. Else: enqueues `count` events,
// then drains them. The task outlives it.
using Operation = std::function<void()>;
Operation contender(const Task& task);

// The passes of `invoke`: `call(payload)` reaches all listeners once.
template <class Call>
void run_passes(const Task& task, Call&& call) {
  const std::size_t count = passes(task.listeners);
  for (std::size_t pass = 0; pass < count; ++pass) call(payload(pass));
}

// The producing half of the other metrics.
template <class Enqueue>
void enqueue_all(const Task& task, Enqueue&& enqueue) {
  int key = 0;
  for (std::size_t i = 0; i < task.count; ++i) {
    enqueue(key, payload(i));
    if (static_cast<std::size_t>(++key) == task.ids) key = 0;
  }
}

}  // namespace handoff::lab::events

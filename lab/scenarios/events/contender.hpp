// SPDX-License-Identifier: MIT
// What a contender of `events` writes: one function that makes the operation of a metric. Lists are
// made with run_passes(), queues handed to measure() (measure.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/contender.hpp"
#include "scenarios/events/work.hpp"

namespace handoff::lab::events {

struct Task {
  std::string metric;
  std::size_t listeners;  // of the list, for invoke
  std::size_t count;  // events of an operation
  std::size_t ids;  // keys, each with one listener; event i has the key i % ids
  std::size_t producers;  // threads that enqueue, for throughput
  bool spins;  // the consumer of a latency: it never sleeps
  std::uint64_t* sum;  // listeners add to it; processes share it
};

// Does a metric's work once: all passes, or all events enqueued and drained. The task outlives it.
Operation contender(const Task& task);

// The passes of `invoke`: `call(payload)` reaches all listeners once.
template <class Call>
void run_passes(const Task& task, Call&& call) {
  const std::size_t count = passes(task.listeners);
  for (std::size_t pass = 0; pass < count; ++pass) call(payload(pass));
}

}  // namespace handoff::lab::events

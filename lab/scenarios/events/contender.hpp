// SPDX-License-Identifier: MIT
// What a contender of `events` writes: one function that makes the operation of a metric. It hands
// its list and its queue to measure.hpp.
#pragma once

#include <stop_token>

#include "harness/contender.hpp"
#include "scenarios/events/work.hpp"

namespace handoff::lab::events {

struct Task {
  Task(const Parameters& parameters, std::uint64_t& heard_sum)
      : given(parameters), sum(&heard_sum) {}

  Parameters given;
  std::string metric = given.text("metric");
  std::size_t listeners = given.number("listeners", 1);  // of the list, for invoke
  std::size_t count = given.number("count", events_of(metric));  // events of an operation
  std::size_t ids = given.number("ids", 1);  // keys, each with one listener; event i has i % ids
  std::size_t producers = given.number("producers", 1);  // threads that enqueue, for throughput
  // The consumer of a latency: it never sleeps.
  bool spins = given.text("consumer", "sleeps") == "spins";
  std::uint64_t* sum;  // listeners add to it
};

// Does a metric's work once: all passes, or all events enqueued and drained. The task outlives it.
Operation contender(const Task& task);

// A thread that sleeps, so that a program has more than one.
class SecondThread {
  std::jthread thread_{[](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any asleep;
    std::unique_lock lock(mutex);
    asleep.wait(lock, stop, [] { return false; });
  }};
};

}  // namespace handoff::lab::events

// SPDX-License-Identifier: MIT
// Boost.Signals2 with its default mutex: a signal and slots.
#include <memory>

#include <boost/signals2.hpp>

#include "scenarios/events/contender.hpp"

handoff::lab::Operation handoff::lab::events::contender(const Task& task) {
  const auto signal = std::make_shared<boost::signals2::signal<void(const Payload&)>>();
  for (std::size_t i = 0; i < task.listeners; ++i) {
    signal->connect([i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
  return [&task, signal](Burst&) {
    run_passes(task, [&](const Payload& payload) { (*signal)(payload); });
  };
}

// SPDX-License-Identifier: MIT
//
// How message workers are: MessageWorkers::health().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How one worker is.
struct WorkerHealth {
  // What it does.
  enum class State : std::uint8_t {
    idle,   // runs no handler: it waits for messages, or for resume()
    busy,   // runs one
    stuck,  // runs one, for longer than stuck_after
    gone,   // has no thread any more: closed, killed, or left behind by fork()
  };
  // At the moment of the call.
  State state = State::idle;

  // While it is busy or stuck: the type of its message.
  const char* message = "";

  // ... and how long its handler has been running; 0 where stuck_after is 0, as no clock is read
  // then.
  std::chrono::nanoseconds busy_for{0};
};

// How all workers are, at about one moment.
struct HealthReport {
  // By index, a worker each.
  std::vector<WorkerHealth> workers;

  // How many are in this state.
  [[nodiscard]] std::size_t count(WorkerHealth::State state) const noexcept {
    std::size_t number = 0;
    for (const WorkerHealth& worker : workers) number += worker.state == state ? 1 : 0;
    return number;
  }

  // No worker is stuck or gone.
  [[nodiscard]] bool healthy() const noexcept {
    return count(WorkerHealth::State::stuck) == 0 && count(WorkerHealth::State::gone) == 0;
  }
};

}}  // namespace handoff::HANDOFF_ABI

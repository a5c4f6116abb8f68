// SPDX-License-Identifier: MIT
//
// What may be said of a task besides its function.
//
//   pool.submit({.priority = handoff::Priority::high, .stop = token}, redraw, window);
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct TaskOptions {
  // A worker that looks for its next task takes those of high priority first, and those of low
  // priority where it would have nothing else to do: as long as there are others they may wait for
  // ever. No running task is interrupted, and a task that waits for its own ones runs those alone.
  Priority priority = Priority::normal;

  // If a stop has been requested when the task would begin, it is not begun: it counts as
  // cancelled, and its Future has NotRun (stopped). A std::stop_token converts to one.
  sync::StopToken stop = {};
};

}}  // namespace handoff::HANDOFF_ABI

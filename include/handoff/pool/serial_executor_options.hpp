// SPDX-License-Identifier: MIT
//
// What may be said of a strand when it is made.
#pragma once

#include <string>

#include <handoff/config.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/pool/task_failure.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What the constructor is told.
struct SerialExecutorOptions {
  // What a report of a failure that nobody was told of calls it.
  std::string name = "handoff-strand";

  // Gets what a task threw that has no Future, on the thread that ran it. It must not throw.
  // Without one, wait() rethrows the first.
  CopyableFunction<void(const TaskFailure&)> on_error = {};
};

}}  // namespace handoff::HANDOFF_ABI

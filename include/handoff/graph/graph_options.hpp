// SPDX-License-Identifier: MIT
//
// What can be asked of one run of a TaskGraph.
//
//   graph.run(pool, {.until = 10ms});
//   graph.run(pool, {.timed = true, .on_error = [](const TaskFailure& f) { log(f.task); }});
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/task_failure.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct GraphOptions {
  // Nodes that have not begun by then do not begin.
  KeptUntil until = {};

  // Keeps when each node began and ended, for to_dot(): two looks at the clock a node.
  bool timed = false;

  // Gets what nodes threw, with their names, on the threads that ran them, several at once; then
  // nothing is rethrown. Nodes of a part come before the node that runs it. It must not throw: that
  // ends the program.
  CopyableFunction<void(const TaskFailure&)> on_error = {};
};

}}  // namespace handoff::HANDOFF_ABI

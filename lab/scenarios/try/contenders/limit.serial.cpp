// SPDX-License-Identifier: MIT
// The items one after the other, on the caller's thread: what all ways are compared with.
#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {

Operation contender(const Task& task) {
  return [&task] { run_items(0, task.items); };
}

bool also_backwards() { return true; }

}  // namespace handoff::lab::trial

// SPDX-License-Identifier: MIT
//
// Tasks that wait for each other, so that none will ever go on: what
// ThreadPoolOptions::on_wait_cycle gets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct WaitCycle {
  // A task that waits for the next in the cycle, the last one for the first: for its result, for
  // what follows that, for its part of a group or a loop, or for its end.
  struct Task {
    std::string name;  // TaskOptions::name, else the type of its function, as the compiler writes
                       // it
    std::size_t worker = 0;  // where it runs, by index in the pool of that thread
    std::string queued;  // if not empty: what it waits for has not begun, and nobody is free to
                         // begin it; the next in the cycle is one of those who would have to
  };
  std::vector<Task> tasks;  // the one that closed the cycle first

  // For a log: "worker 1 in f() waits for worker 2 in g() waits for worker 1", "worker 0 in f()
  // waits for g(), queued behind worker 0".
  std::string to_string() const;
};

}}  // namespace handoff::HANDOFF_ABI

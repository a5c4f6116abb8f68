// SPDX-License-Identifier: MIT
//
// What may be said of message workers when they are made.
//
//   handoff::MessageWorkers<Resize, Crop> workers({.width = 4, .capacity = 256}, visitor);
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/pool/task_failure.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What the constructor is told.
struct MessageWorkersOptions {
  // What debuggers and `top` show for the threads.
  std::string name = "handoff-workers";

  // Threads; 0: as many as this process may use CPUs (affinity cut by the cgroup quota). At most
  // ThreadPool::max_width.
  std::size_t width = 0;

  // Messages that were accepted and whose handlers are not at their end: those that wait, and those
  // that are handled, `width` at most. For n that wait say n + width. All memory for them is had at
  // once. Not rounded: one message more finds it full. At least 1; more than 16,777,215 (2^24 - 1)
  // throw std::length_error.
  std::size_t capacity = 1024;

  // What publish() does with one message too many: wait, reject or run_here.
  OnFull on_full = OnFull::wait;

  // Where the threads may run: thread i on cpus[i % size] alone; empty: anywhere.
  std::vector<int> cpus = {};

  // How long a worker that finds nothing looks on, on its CPU, before it sleeps: less latency for
  // more CPU. 0: not at all; nanoseconds::max(): it never sleeps. Negative: for about as long as a
  // sleep and a wake-up cost.
  std::chrono::nanoseconds spin_for{-1};

  // How long a handler may run before health() calls its worker stuck; 0: for ever. With a limit
  // each message costs a look at the clock more (about 25 ns).
  std::chrono::nanoseconds stuck_after = std::chrono::nanoseconds(0);

  // Gets what a handler threw, and a text with the type of its message, on the thread that ran it.
  // It must not throw, and is called by several at the same moment. Without one, wait() rethrows
  // the first.
  CopyableFunction<void(const TaskFailure&)> on_error = {};
};

}}  // namespace handoff::HANDOFF_ABI

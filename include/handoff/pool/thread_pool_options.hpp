// SPDX-License-Identifier: MIT
//
// What may be said of a pool when it is made.
//
//   handoff::ThreadPool pool({.mode = handoff::PoolMode::cached,
//                             .width = 100,
//                             .on_error = [](const auto& f) { report(f.task, f.error); }});
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/capacity.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/internal/wrong_field.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/pool/pool_mode.hpp>
#include <handoff/pool/task_failure.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct ThreadPoolOptions {
  // What debuggers and `top` show for the threads.
  std::string name = "handoff-pool";

  // How tasks get to threads.
  PoolMode mode = PoolMode::stealing;

  // Threads; 0: as many as this process may use CPUs (affinity cut by the cgroup quota). At most
  // ThreadPool::max_width. `cached`: the most there are at a time; 0: four times the CPUs, as its
  // tasks are those that wait for something else.
  std::size_t width = 0;
  [[no_unique_address]] detail::CalledWidth threads = {};  // no field

  // Tasks that may wait to begin: exactly this many; those that run do not count. Tasks of a
  // TaskGroup or a loop are never refused, and not counted here. 0 is misuse.
  std::size_t capacity = unbounded;

  // What happens to one task too many: reject, wait or run_here.
  OnFull on_full = OnFull::wait;

  // How many more urgent tasks a worker may begin while a less urgent one waits; then it begins one
  // of that priority, if one is there. 0: any number, so a less urgent one may wait for ever.
  unsigned starvation_limit = 0;

  // `cached`: how many threads stay; 0: as many as CPUs, and no more than the width.
  std::size_t core = 0;

  // `cached`: the time after which a thread that found nothing to do ends, if more than `core` are
  // there.
  std::chrono::nanoseconds idle_time = std::chrono::seconds(10);

  // How long a worker that finds nothing looks on, on its CPU, before it sleeps: less latency for
  // more CPU. 0: not at all; nanoseconds::max(): it never sleeps. Negative: for about as long as a
  // sleep and a wake-up cost, and not at all where that was in vain. Workers beyond the CPUs never
  // do.
  std::chrono::nanoseconds spin_for{-1};

  // Where the threads may run: thread i on cpus[i % size] alone; empty: anywhere.
  std::vector<int> cpus = {};

  // Called by each thread of the pool, with its index, before its first and after its last task,
  // by several at the same moment. They must not throw. What came before the close is seen by
  // on_stop. `cached` uses the index of a thread that ended again.
  CopyableFunction<void(std::size_t)> on_start = {};
  CopyableFunction<void(std::size_t)> on_stop = {};

  // Gets what a task threw that has neither a Future nor a TaskGroup, and its name, on the thread
  // that ran it. It must not throw, and is called by several at the same moment. Without one,
  // wait() rethrows the first.
  CopyableFunction<void(const TaskFailure&)> on_error = {};
};

}}  // namespace handoff::HANDOFF_ABI

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
#include <handoff/core/detail/wrong_field.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/pool/pool_mode.hpp>
#include <handoff/pool/task_failure.hpp>
#include <handoff/pool/wait_cycle.hpp>

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

  // Tasks that may wait to begin: exactly so many; those that run do not count. Tasks of a
  // TaskGroup or a loop are never refused, and not counted here. 0 is misuse.
  std::size_t capacity = unbounded;

  // What happens to one task too many: reject, wait or run_here.
  OnFull on_full = OnFull::wait;

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

  // The watchdog. Gets the tasks of this pool that wait for each other in a circle, and so would
  // never go on; with other pools that have one, also across them. The waits it knows: those for a
  // Future, also one of then() and when_all(); for a TaskGroup and a loop;
  // TimerHandle::cancel_and_wait(); wait(), close() and the destructor of another pool. A wait for
  // a task that has not begun is one for all threads that could begin it, if none of them is free.
  // It is called in the task that closed the circle, and may throw: then the wait of that one
  // throws it, and the circle is broken. Nobody can be thrown out of the wait for a group or a
  // loop, which throws it when its tasks are done; from cancel_and_wait() and the end of a pool it
  // goes nowhere. A task with a Future or in a group then costs a lock at its begin, at its end and
  // at a wait; without a watchdog, nothing. Waits with a deadline, which end by themselves, are
  // none of its business, nor are locks, channels and std::futures, of which the pool knows
  // nothing.
  CopyableFunction<void(const WaitCycle&)> on_wait_cycle = {};
};

}}  // namespace handoff::HANDOFF_ABI

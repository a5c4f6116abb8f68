// SPDX-License-Identifier: MIT
//
// The parts of a pool. Each knows those above it only. Three calls go up: WorkerThreads calls its
// Duty, which is WorkSearch; Timers have the engine hand over what is due; and a task that waits or
// blocks, in a group or not, asks the engine of its Worker.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/unqueued_tasks.hpp>
#include <handoff/pool/thread_pool_options.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>

#include "../core/internal/failures.hpp"
#include "backlog.hpp"
#include "completion.hpp"
#include "crew.hpp"
#include "late.hpp"
#include "task_runner.hpp"
#include "timers.hpp"
#include "waiting_room.hpp"
#include "work_search.hpp"
#include "worker_threads.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct EngineParts {
  // `cpus`: of this process, asked for once, as that is slow.
  EngineParts(Engine& engine, const ThreadPoolOptions& given, std::size_t cpus);

  const ThreadPoolOptions options;
  Crew crew;  // workers and guests, which may hold tasks
  WaitingRoom room;  // how many tasks may wait
  WorkerThreads threads;  // which worker has a thread, and which one is called
  UnqueuedTasks unqueued;  // tasks that no worker counts, and the close, which refuses them
  Backlog backlog;  // where tasks wait, and which one comes next
  Completion completion;  // whether all are finished, and waits for it
  Failures failures;  // what tasks threw
  TaskRunner runner;  // how a task is run and counted
  WorkSearch search;  // what the threads do

  sync::Mutex closing;
  sync::atomic<sync::ThreadId> closer{nullptr};  // the thread that has it
  Late<Timers> timers;  // functions that wait for their moment
  sync::Mutex making_timers;
};

inline TaskRunner& Engine::runner() noexcept { return parts_->runner; }
inline Completion& Engine::completion() noexcept { return parts_->completion; }

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// The tasks of a pool that wait to begin: where they wait, which one comes next, and whether any is
// to begin at all.
//
// Tasks wait in the queue of the mode (TaskSource), in the side queues, and in the deques of the
// crew. A paused pool looks empty: nobody takes a task, and a look before a sleep finds nothing.
//
// Concurrency: anybody; take() by the worker, close() once.
// Blocks: as TaskQueue; pause() and resume() for each other. Allocates: side queues, at their first
// use.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_source.hpp>
#include <handoff/pool/detail/unqueued_tasks.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#include "claimer.hpp"
#include "crew.hpp"
#include "late.hpp"
#include "side_queues.hpp"
#include "waiting_room.hpp"
#include "worker_threads.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

struct ThreadPoolOptions;

namespace detail {

class Backlog {
 public:
  // `unqueued`: closed before this is.
  Backlog(const ThreadPoolOptions& options, Crew& crew, WaitingRoom& room, WorkerThreads& threads,
          const UnqueuedTasks& unqueued);
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  TaskSource& source() noexcept { return *source_; }

  // Made at their first use. Null once closed. Throws std::bad_alloc.
  SideQueues* side_queues();

  // Closes all queues. No task comes to one any more, after those that have a place.
  void close() noexcept;
  // How many came by a queue.
  std::uint64_t accepted() const noexcept;

  // The next task for a worker that runs none. Null if there is none to begin.
  Task* take(Worker& worker) noexcept {
    // order: relaxed, a task that slips through was there in time: see Claimer::node_of()
    const std::uint32_t notes = notes_.load(sync::order::relaxed);
    if (notes != 0) [[unlikely]]
      return take_noted(worker, notes);
    return source_->next(worker);
  }

  // Whether there is a task to begin that any worker may take, or a place for one that will be
  // there at once.
  bool has_tasks() const noexcept {
    return !is_paused() && (crew_.has_tasks() || queues_have_tasks());
  }
  bool queues_have_tasks() const noexcept;
  // ... that this one has to take, now or after a pause.
  bool has_tasks_for(const Worker& worker) const noexcept;

  // Until resume() no worker begins a task that it has not taken yet. Nothing after
  // resume_for_good().
  void pause() noexcept;
  void resume() noexcept;
  void resume_for_good() noexcept;
  bool is_paused() const noexcept {
    // order: relaxed, behind the fence that comes before each look; partner is the one in resume()
    return (notes_.load(sync::order::relaxed) & kPaused) != 0;
  }

 private:
  template <class>
  friend struct Books;

  // What a worker has to know before it takes a task; nothing, most of the time.
  enum Notes : std::uint32_t { kPaused = Claimer::paused, kSideQueues = 2 };

  Task* take_noted(Worker& worker, std::uint32_t notes) noexcept;
  Task* take_of(TaskClass which, Worker& worker, const SideQueues& queues) noexcept;

  Crew& crew_;
  WorkerThreads& threads_;
  const UnqueuedTasks& unqueued_;
  Claimer claimer_;
  const std::unique_ptr<TaskSource> source_;
  sync::atomic<std::uint32_t> notes_;  // Notes
  const std::uint32_t starvation_limit_;  // 0: none
  Late<SideQueues> side_queues_;
  sync::Mutex making_;
  sync::Mutex pausing_;
  sync::cell<bool> never_paused_;  // any more; under pausing_
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

// SPDX-License-Identifier: MIT
//
// Whether all tasks of a pool are finished, and the threads that wait for that.
//
// Each worker counts for itself, so nobody is stopped for an answer. Every worker that runs out of
// work says so, and every thread that finished a task and looks for no other.
//
// Invariant
//   TP-1  Every accepted task is counted once, by the worker that finished it, after its closure
//         was destroyed and before a thread that waits for it hears.
//
// Concurrency: anybody. Blocks: await(), await_visitors(). Allocates, throws: never.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/unqueued_tasks.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/stop_token.hpp>

#include "../sync/internal/seen_sanitizer.hpp"
#include "backlog.hpp"
#include "crew.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Completion {
 public:
  Completion(const Crew& crew, const Backlog& backlog, UnqueuedTasks& unqueued) noexcept
      : crew_(crew), backlog_(backlog), unqueued_(unqueued), visitors_(0) {}

  // Nothing of the pool is unfinished, or somebody may believe so: tells the waiting threads.
  void tell() noexcept { idle_.notify_all(); }

  // True if there was a moment during this call at which nothing was unfinished: first what is
  // finished, then what was accepted. Both only grow, so if they are equal they were equal in
  // between; and a task is counted as accepted before it can be counted as finished.
  bool is_idle() const noexcept {
    const std::uint64_t finished = unqueued_.finished() + crew_.finished();
    return finished == accepted();
  }
  sync::Wakeup await(sync::Deadline deadline, const sync::StopToken& stop = {}) noexcept {
    const sync::Wakeup woken = await([this]() noexcept { return is_idle(); }, deadline, stop);
    sync::tell_taken(this);
    return woken;
  }
  // What has come when somebody tells.
  template <class Has>
  sync::Wakeup await(Has&& has, sync::Deadline deadline, const sync::StopToken& stop) noexcept {
    return idle_.await(has, deadline, stop);
  }

  // A task that no worker counts.
  void count_unqueued(Outcome outcome) noexcept {
    sync::tell_given(this);
    unqueued_.count(outcome);
    tell();
  }

  // A task of this pool is run by the thread that waits for it, which may not work for this pool: a
  // visitor from before it runs until it has been counted.
  void begin_visit() noexcept {
    visitors_.fetch_add(1, sync::order::relaxed);  // order: relaxed, the task keeps the pool alive
  }
  void end_visit(Outcome outcome) noexcept {
    count_unqueued(outcome);
    // order: release pairs with the acquire in await_visitors(): this is its last step here.
    visitors_.fetch_sub(1, sync::order::release);
  }
  // Those that have been counted.
  void await_visitors() const noexcept {
    // order: acquire pairs with the release in end_visit().
    while (visitors_.load(sync::order::acquire) != 0) sync::yield();
  }

  // What became of the tasks, but for what was thrown.
  Tally tally() const noexcept {
    Tally tally;
    tally.done = unqueued_.read(Outcome::done);
    tally.failed = unqueued_.read(Outcome::failed);
    tally.cancelled = unqueued_.read(Outcome::cancelled);
    crew_.add_to(tally);
    tally.accepted = accepted();
    return tally;
  }

 private:
  template <class>
  friend struct Books;

  std::uint64_t accepted() const noexcept {
    return unqueued_.accepted() + backlog_.accepted() + crew_.accepted();
  }

  const Crew& crew_;
  const Backlog& backlog_;
  UnqueuedTasks& unqueued_;
  sync::EventCount idle_;  // threads that wait until nothing is unfinished
  sync::atomic<std::uint32_t> visitors_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

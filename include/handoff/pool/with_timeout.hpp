// SPDX-License-Identifier: MIT
//
// A result that has to come in time.
//
//   Answer answer = co_await handoff::with_timeout(pool, ask(server), 10ms);
//   auto shown = handoff::with_timeout(pool, ask(server), 10ms).then(show);
//
// For: a coroutine, or what follows a result, that is not to wait for ever. Not for: a thread that
// waits (future.wait(10ms)), a task that begins too late (TaskOptions::until).
//
// Contract: as Future, and
// - At the moment get() and co_await throw NotRun (timed_out), and the task is asked to stop, as by
//   request_stop(). What it comes to ends unread. Either the result or the moment wins, never both.
// - The moment needs no free worker. The thread of the pool's timers ends waits, and requests the
//   stop of a token: its callbacks run there, so they must be short, and neither wait for the pool
//   nor close it, which is misuse.
// - The rest comes as a task of the pool, of high priority, as soon as a worker is free: there what
//   follows runs, and a task that has not begun is dropped. The pool counts it; a timeout that has
//   not fired is not counted.
// - A task that waits for it runs nothing meanwhile; a stand-in works (pool/blocking.hpp).
// - A result that is there already is returned as it is, whatever the moment.
// - Closed: it throws NotRun, and the Future is unmoved. Any close of the pool, also one that
//   finishes, ends the wait at once, on the thread that closes: get() throws NotRun (stopped), and
//   the task is asked to stop. So close the pool behind the result.
// - Blocks: never. Allocates: twice. Exceptions: those of ThreadPool::post_at(). An empty Future is
//   misuse.
//
// How it works: docs/design/future.md.
#pragma once

#include <chrono>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/timed_result.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/pool/task_options.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/timer_handle.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// The same result, if it is there by that moment.
template <class R>
[[nodiscard]] Future<R> with_timeout(ThreadPool& pool, Future<R>&& future, sync::Deadline moment) {
  if (future.is_ready()) return std::move(future);
  using Timed = detail::TimedResult<R, TimerHandle>;
  return Timed::make(future, [&](typename Timed::Alarm&& alarm) {
    return pool.post_at(moment, std::move(alarm),
                        {.name = "with_timeout", .priority = Priority::high});
  });
}
// ... within that time.
template <class R, class Rep, class Period>
[[nodiscard]] Future<R> with_timeout(ThreadPool& pool, Future<R>&& future,
                                     std::chrono::duration<Rep, Period> time) {
  return with_timeout(pool, std::move(future), sync::deadline_after(time));
}

}}  // namespace handoff::HANDOFF_ABI

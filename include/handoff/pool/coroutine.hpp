// SPDX-License-Identifier: MIT
//
// Coroutines that go on as tasks of a pool.
//
//   Job handle(handoff::ThreadPool& pool, Request request) {
//     co_await pool.schedule();           // from here on a worker runs this
//     Answer answer = compute(request);
//     co_await disk.schedule();           // and from here on one of another pool
//     save(answer);
//   }
//
// For: going over to a pool, or back, in the middle of a function. Not for: starting coroutines,
// whose type is the user's; a result (co_await pool.submit(...), core/future.hpp); a LoopExecutor
// or a strand (post the handle: docs/guide/pools.md).
// A task that waits for a coroutine of this pool, in whatever way its type has, does so in
// blocking(): what the coroutine needs next may be queued behind it.
// schedule() takes a priority, no TaskOptions: g++ 12 destroys twice what is made inside a co_await
// expression, as the token in co_await pool.submit(f, {.until = token}), or what the lambda of
// co_await pool.submit([text] { ... }) captures. Keep the Future of such a task, and await that.
// A lambda that is a coroutine must not have captures, unless it outlives its run: they lie in the
// lambda, not in the coroutine. Parameters lie in the coroutine.
//
// Contract: executor tier.
// - Concurrency, order, full: as ThreadPool::post(). Where a full pool has the caller run the
//   task (OnFull::run_here, and OnFull::wait inside a task) the coroutine goes on where it is.
// - Lifetime: a hand-over is a call on the pool, by the thread the coroutine leaves; it may return
//   after the coroutine is over. So a pool outlives the pools whose workers hand over to it.
// - Blocks: as post(). Allocates: nothing beside the queue's memory.
// - Closed, full: co_await throws NotRun where the coroutine is. Dropped by a close: it goes on, on
//   a worker, and co_await throws NotRun (stopped: cancelled; timed_out: expired). So it always
//   goes on, and ends what it holds. Then nothing must leave it.
// - Exceptions: what leaves the coroutine, if its promise lets it, is a failure of the task.
#pragma once

#include <coroutine>
#include <new>

#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/thread_pool.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// What ThreadPool::schedule() returns, to be awaited at once. It lies in the coroutine.
class [[nodiscard]] ScheduleAwaiter {
 public:
  ScheduleAwaiter(detail::Engine& engine, Priority priority) noexcept
      : engine_(engine), priority_(priority) {}

  bool await_ready() const noexcept { return false; }

  // The coroutine may be over, and this gone, before the hand-over returns.
  void await_suspend(std::coroutine_handle<> coroutine) {
    coroutine_ = coroutine;
    detail::TaskPlace place = engine_.reserve(priority_);
    if (!place) raise(NotRun(place.status()));
    place.fill(detail::PointerMaker<ScheduleAwaiter>(this, kind)).publish();
  }

  void await_resume() const {
    if (dropped_ != Status::ok) raise(NotRun(dropped_));
  }

 private:
  static detail::Outcome run(detail::Task& task) {
    task.as<ScheduleAwaiter*>()->coroutine_.resume();
    return detail::Outcome::done;
  }
  static detail::Outcome drop(detail::Task& task, detail::Outcome why) noexcept {
    ScheduleAwaiter& awaiter = *task.as<ScheduleAwaiter*>();
    awaiter.dropped_ = detail::reason_of(why);
    awaiter.coroutine_.resume();
    return why;
  }
  static constexpr detail::TaskKind kind{&run, &drop, nullptr};

  detail::Engine& engine_;
  const Priority priority_;
  Status dropped_ = Status::ok;
  std::coroutine_handle<> coroutine_;
};

inline auto ThreadPool::schedule(Priority priority) noexcept {
  return ScheduleAwaiter(*engine_, priority);
}

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

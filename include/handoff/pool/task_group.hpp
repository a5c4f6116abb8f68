// SPDX-License-Identifier: MIT
//
// Tasks that are waited for together: divide the work, and wait for the parts.
//
//   long fib(handoff::ThreadPool& pool, int n) {
//     if (n < 2) return n;
//     long a = 0;
//     handoff::TaskGroup group(pool);
//     group.run([&] { a = fib(pool, n - 1); });
//     const long b = fib(pool, n - 2);
//     group.wait();
//     return a + b;
//   }
//
// For: work that divides. Not for: tasks that nobody waits for (ThreadPool::post); one result
// (Future); loops (parallel_for).
//
// Contract: executor tier, for the tasks of one owner.
// - Concurrency: the thread that made the group owns it, waits, and destroys it; a task that made
//   it does so before it ends. The owner and tasks of the pool may call run(); any thread may call
//   cancel() and cancelled(), and wait for a shared group, but in its tasks. The pool outlives it.
// - Order: what came before run() happens before the task; every task happens before wait()
//   returns. The owner runs its tasks last in, first out; thieves take the oldest.
// - Blocks: wait() and the destructor, until all tasks have ended. Meanwhile the owner runs tasks
//   of the group that have not begun, and tasks of the groups that these made; then it sleeps. It
//   runs nothing else, so nesting to any depth ends, on one worker too. While a worker sleeps, a
//   stand-in runs other tasks that lie in its deque, as in blocking(). Of a shared group the maker
//   and tasks of the pool help so, and a stand-in comes always; other threads only sleep.
// - An owner outside the pool is one of 64 guests at most. Beyond that run() calls the function.
// - Allocates: nothing for a closure of up to 48 bytes, once the worker has its nodes.
// - Closed: a group refuses nothing. Its tasks run also while the pool drains, and on the owner
//   alone after that. Closing::abandon, and a finish_until that is over, drop what has not begun.
// - Cancelled: cancel() drops tasks that have not begun, also those that are handed over until the
//   next wait has ended. wait(until) does so when `until` is over; both wait for what has begun.
//   After a wait that returned or threw, the group is as new. A shared one stays cancelled or
//   failed, which each wait tells, and its wait(until) drops nothing.
// - Exceptions: a task that throws counts as failed, and all others run, unless on_failure calls
//   cancel(); wait() rethrows the first one. If run() throws, the function was not accepted.
// Source: the wait that helps is that of M. Frigo, C. Leiserson and K. Randall, "The Implementation
// of the Cilk-5 Multithreaded Language", 1998; leapfrogging is D. Wagner and B. Calder's, 1993.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// What the constructor is told.
struct TaskGroupOptions {
  // Whether any thread may wait, many at once. That costs each task two more atomic additions.
  bool shared = false;

  // Called when the first task since the last wait has failed, on the thread that ran it and before
  // wait() returns: [&] { group.cancel(); }. It must not throw.
  UniqueFunction<void()> on_failure = {};
};

class TaskGroup {
 public:
  // The pool outlives the group.
  explicit TaskGroup(ThreadPool& pool) noexcept : tasks_(detail::engine_of(pool)) {}
  TaskGroup(ThreadPool& pool, TaskGroupOptions options) noexcept
      : tasks_(detail::engine_of(pool), options.shared, std::move(options.on_failure)) {}

  // Waits. What wait() would have rethrown is unheard (core/on_unheard.hpp).
  ~TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Calls function() once, somewhere, before wait() returns; or wait() tells that it was dropped.
  template <class F>
  void run(F&& function) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    detail::Worker* const worker = tasks_.worker_here();
    if (worker == nullptr) [[unlikely]]
      return tasks_.run_without_seat(std::forward<F>(function));
    if constexpr (detail::CopyMayThrow<F>) {
      run(std::decay_t<F>(function));
    } else {
      detail::ClosureMaker<std::decay_t<F>> maker;
      detail::TaskPlace place = tasks_.reserve_in(*worker);  // never refused
      place.fill(maker, std::forward<F>(function)).publish();
    }
  }

  // run(function), then wait(): the function runs on this thread, and nobody is woken for it.
  template <class F>
  void run_and_wait(F&& function) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    tasks_.run_here(std::forward<F>(function));
    wait();
  }

  // Until no task is unfinished. Rethrows the first exception. Throws NotRun (stopped, timed_out)
  // if the pool's close dropped a task. See the head comment.
  void wait() { tasks_.wait_for_all(); }
  // ok; stopped or timed_out if a task was dropped since the last wait.
  Status wait(const Until& until) {
    const sync::Waited waited(static_cast<detail::GroupTasks*>(&tasks_));
    return tasks_.wait(until);
  }

  // Tasks that have not begun are dropped, until the next wait has ended. Any thread.
  void cancel() noexcept { tasks_.cancel(); }

  // Whether cancel() was called since the last wait.
  [[nodiscard]] bool cancelled() const noexcept { return tasks_.cancelled(); }

 private:
  detail::OptionedTasks tasks_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

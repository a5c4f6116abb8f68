// SPDX-License-Identifier: MIT
//
// Tasks that are waited for together: divide, and wait for the parts.
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
// For: work that divides, in tasks or in a thread that has a problem to solve. Not for: tasks that
// nobody waits for (ThreadPool::post); one result (Future); loops (parallel_for).
//
// Contract: executor tier, for the tasks of one owner.
// - Concurrency: the thread that made the group owns it, waits, and destroys it; a task that made
//   it does so before it ends. run() by the owner and by tasks of the pool; cancel() and
//   cancelled() by anybody. The pool outlives the group.
// - Order: what came before run() happens before the task; every task happens before wait()
//   returns. On its own thread the tasks run last in, first out; thieves take the oldest.
// - Blocks: wait() and the destructor, until no task is unfinished. The owner meanwhile runs tasks
//   of the group that nobody has begun; when all are begun, parts of them: tasks of the groups that
//   those tasks made. It runs nothing else, and then it sleeps. So what else the pool has to do
//   never holds up a wait, and nesting to any depth ends, on one worker too. A worker that sleeps
//   while other tasks lie with it gets a stand-in, as in blocking().
// - An owner outside the pool's threads is one of at most 64 guests; beyond that, run()
//   runs the function itself, on a further thread where the stack is short.
// - Allocates: nothing for a closure up to 48 bytes, once the worker has its nodes.
// - Full, closed: never refuses. Tasks of a group run also while the pool drains, and on their
//   owner alone after it. abandon and a passed finish_until drop what has not begun; wait(until)
//   says `stopped`.
// - Cancelled: tasks that have not begun are dropped and counted as cancelled, also those that are
//   handed over until the next wait has ended. wait(until) drops what has not begun by then, as
//   cancelled or expired, waits for what has, and says `stopped` or `timed_out`.
// - Again: a wait that has returned or thrown leaves the group as if new: a cancel, a stop, a
//   deadline that has passed and failures are over, and tasks that are handed over now run.
// - Exceptions: a task that throws is counted as failed, all others run; wait() rethrows the first
//   that was thrown. run() throws std::bad_alloc, or what making the closure throws, and the
//   function has not been accepted.
// Source: the wait that helps follows M. Frigo, C. Leiserson and K. Randall, "The Implementation of
// the Cilk-5 Multithreaded Language", 1998; leapfrogging is D. Wagner and B. Calder's, 1993.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/closure_maker.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/thread_pool.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class TaskGroup {
 public:
  // The pool outlives the group.
  explicit TaskGroup(ThreadPool& pool) noexcept : tasks_(detail::engine_of(pool)) {}

  // Waits; a failure that nobody asked for is forgotten.
  ~TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Calls function() once, somewhere, before wait() returns.
  template <class F>
  void run(F&& function) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    detail::Worker* const worker = tasks_.worker_here();
    if (worker == nullptr) [[unlikely]]
      return tasks_.run_without_seat(std::forward<F>(function));
    detail::ClosureMaker<std::decay_t<F>> maker;
    detail::TaskPlace place = tasks_.reserve_in(*worker);  // never refused
    (void)place.fill(maker, std::forward<F>(function));
  }

  // run(function), then wait(): the function runs on this thread, and nobody is woken for it.
  template <class F>
  void run_and_wait(F&& function) {
    static_assert(detail::IsTask<F>, "a task takes no arguments: capture what it needs");
    tasks_.run_here(std::forward<F>(function));
    wait();
  }

  // Until no task is unfinished. See the head comment.
  void wait() { (void)tasks_.wait(); }
  // ok; stopped or timed_out if a task was dropped since the last wait.
  Status wait(const Until& until) { return tasks_.wait(until); }

  // Tasks that have not begun are dropped, until the next wait has ended. Any thread.
  void cancel() noexcept { tasks_.cancel(); }

  // Whether cancel() was called since the last wait.
  [[nodiscard]] bool cancelled() const noexcept { return tasks_.cancelled(); }

 private:
  detail::GroupTasks tasks_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

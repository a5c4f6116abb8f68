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
// nobody waits for (ThreadPool::execute); one result (Future); loops (parallel_for).
//
// Contract: executor tier, for the tasks of one owner.
// - Concurrency: the thread that made the group owns it, waits, and destroys it. run() by the owner
//   and by tasks of the pool; cancel() and cancelled() by anybody. The pool outlives the group.
// - Order: what came before run() happens before the task; every task happens before wait()
//   returns. On its own thread the tasks run last in, first out; thieves take the oldest.
// - Blocks: wait() and the destructor, until no task is unfinished. The owner meanwhile runs those
//   that nobody has begun; when all are begun it helps whoever runs them, and then sleeps. It never
//   waits for a task that could only run behind it, so nesting to any depth ends, on one worker
//   too.
// - Outside the pool's threads the owner takes one of the pool's 64 seats; if there is none, run()
//   runs the function itself.
// - Allocates: nothing for a closure up to 48 bytes, once the worker has its nodes.
// - Full, closed: never refuses. Tasks of a group run also while the pool drains, and on their
//   owner alone after it. abandon and a passed drain_until drop what has not begun; wait() says
//   `stopped`.
// - Cancelled: tasks that have not begun are dropped and counted as cancelled; wait() says
//   `stopped`.
// - Exceptions: a task that throws is counted as failed, all others run; wait() rethrows the first
//   that was thrown, once. run() throws std::bad_alloc, or what making the closure throws, and the
//   function has not been accepted.
// Source: the wait that helps follows M. Frigo, C. Leiserson and K. Randall, "The Implementation of
// the Cilk-5 Multithreaded Language", 1998; leapfrogging is D. Wagner and B. Calder's, 1993.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/hand_over.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class WatchedWait;
}  // namespace detail

class TaskGroup {
 public:
  explicit TaskGroup(ThreadPool& pool) noexcept
      : engine_(detail::engine_of(pool)),
        owner_(engine_.worker_here()),
        elsewhere_(0),
        thief_(nullptr),
        flags_(0) {
    if (owner_ == nullptr || owner_->guest) [[unlikely]]
      owner_ = engine_.sit_down();
  }

  // Waits; a failure that nobody asked for is forgotten.
  ~TaskGroup() {
    if (!is_done()) [[unlikely]]
      wait_until_done();
    if (owner_ != nullptr && owner_->guest) [[unlikely]]
      engine_.stand_up(*owner_);
  }
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Calls function() once, somewhere, before wait() returns.
  template <class F>
  void run(F&& function) {
    detail::Worker* const worker = engine_.worker_here();
    if (worker == nullptr) [[unlikely]]
      return run_here(std::forward<F>(function));
    (void)detail::hand_over(  // never refused
        engine_,
        [&] {
          const detail::Placement placement = engine_.reserve_in(*worker);
          placement.task->group.write() = this;
          count_in(*worker);
          return placement;
        },
        std::forward<F>(function));
  }

  // run(function), then wait(): the function runs on this thread, and nobody is woken for it.
  template <class F>
  Status run_and_wait(F&& function) {
    run_here(std::forward<F>(function));
    return wait();
  }

  // ok, or stopped if a task was dropped. See the head comment.
  Status wait() {
    if (!is_done()) wait_until_done();
    // order: relaxed, the tasks that set flags are done.
    return flags_.load(sync::order::relaxed) == 0 ? Status::ok : settle();
  }

  void cancel() noexcept {
    // order: relaxed, a task sees it in time or not
    flags_.fetch_or(kCancelled, sync::order::relaxed);
  }
  [[nodiscard]] bool cancelled() const noexcept {
    // order: relaxed, see cancel().
    return (flags_.load(sync::order::relaxed) & kCancelled) != 0;
  }

  // The pool's side. Not for users.
  void finished(const detail::Worker& worker, detail::Outcome outcome) noexcept {
    if (outcome != detail::Outcome::done) [[unlikely]]
      note(outcome);
    if (&worker == owner_) {
      --here_;
    } else {
      finished_elsewhere();
    }
  }
  void stolen_by(detail::Worker& thief) noexcept {
    thief_.store(&thief, sync::order::relaxed);  // order: relaxed, a hint whom to help
  }
  void keep_failure(const std::exception_ptr& failure) noexcept;

 private:
  friend class detail::WatchedWait;

  enum Flags : std::uint32_t { kCancelled = 1, kDropped = 2, kFailed = 4 };

  // In elsewhere_: the owner sleeps until the count is 0.
  static constexpr std::int64_t kAsleep = 1;
  static constexpr int kCountShift = 1;
  static constexpr std::int64_t kOne = 1 << kCountShift;

  void count_in(const detail::Worker& worker) noexcept {
    if (&worker == owner_) {
      ++here_;
    } else {
      // order: relaxed, the task that runs here is still counted, so the sum is not 0.
      elsewhere_.fetch_add(kOne, sync::order::relaxed);
    }
  }

  // The owner asks. Tasks that began here and ended elsewhere make here_ positive and elsewhere_
  // negative, and the other way round.
  bool is_done() const noexcept {
    // order: acquire pairs with the fetch_sub in finished_elsewhere().
    return here_ + (elsewhere_.load(sync::order::acquire) >> kCountShift) == 0;
  }

  // The owner sleeps.
  std::size_t unfinished() const noexcept {
    // order: relaxed, a number for the book of waits.
    return static_cast<std::size_t>(elsewhere_.load(sync::order::relaxed) >> kCountShift);
  }

  template <class F>
  void run_here(F&& function) noexcept {
    try {
      static_cast<void>(detail::invoke(std::forward<F>(function)));
    } catch (...) {
      keep_failure(std::current_exception());
    }
  }

  void wait_until_done() noexcept;
  bool help_thief() noexcept;
  void sleep() noexcept;
  void tell_of_circle(detail::WatchedWait& watched) noexcept;
  void finished_elsewhere() noexcept;
  void note(detail::Outcome outcome) noexcept;
  Status settle();

  detail::Engine& engine_;
  detail::Worker* owner_;  // null: no seat was free
  std::int64_t here_ = 0;  // handed over by the owner's worker, less those that ended there
  sync::atomic<std::int64_t> elsewhere_;  // the same of all other workers, times kOne
  sync::atomic<detail::Worker*> thief_;  // who stole one last
  sync::atomic<std::uint32_t> flags_;
  sync::Mutex failure_mutex_;
  std::exception_ptr first_failure_;
};

}}  // namespace handoff::HANDOFF_ABI

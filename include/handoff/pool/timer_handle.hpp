// SPDX-License-Identifier: MIT
//
// A handle that cancels a timed task.
//
//   handoff::TimerHandle beat = pool.post_every(100ms, [&] { send_heartbeat(); });
//   beat.cancel();            // no run begins any more; one that is going on goes on
//   beat.cancel_and_wait();   // ... and when this returns none is going on
//
// Not for: keeping a timer alive. What was asked for happens without its handle, too.
//
// Concurrency: one handle like a std::unique_ptr; against the run of its function: any threads. It
// may outlive the pool, and then says false to everything.
// Order: what came before cancel() happens before the end of the function's closure; a run happens
// before a cancel_and_wait() that returns after it.
// Blocks: cancel_and_wait(), until the run that is going on, with the pool's on_error of it, or the
// closure's end, is over; not inside these. In another task it holds up a worker, see blocking().
// Destroys: the closure, at once if its moment has not come, else on the worker that it was for; in
// the close of the pool, on that thread. A closure may own its handle. Closures whose ends wait for
// each other wait for ever if two threads end them, as with locks.
// Allocates, throws: never.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class TimedTask;
}  // namespace detail

class TimerHandle {
 public:
  TimerHandle() noexcept = default;  // of nothing
  TimerHandle(TimerHandle&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  TimerHandle& operator=(TimerHandle&& other) noexcept {
    if (this != &other) {
      reset();
      task_ = std::exchange(other.task_, nullptr);
    }
    return *this;
  }
  ~TimerHandle() { reset(); }

  // True for the one call that ended it: the function will not begin any more, of a series not once
  // more. False if it has begun, or is over, whatever the reason.
  bool cancel() noexcept {
    if (task_ == nullptr) return false;
    sync::given(task_);
    return call_off();
  }

  // ... and returns when no run of the function is going on.
  bool cancel_and_wait() noexcept {
    if (task_ == nullptr) return false;
    sync::given(task_);
    const bool ended = call_off_and_wait();
    sync::taken(task_);
    return ended;
  }

  // For ThreadPool.
  explicit TimerHandle(detail::TimedTask& task) noexcept : task_(&task) {}

 private:
  bool call_off() noexcept;
  bool call_off_and_wait() noexcept;
  void reset() noexcept;

  detail::TimedTask* task_ = nullptr;
};

}}  // namespace handoff::HANDOFF_ABI

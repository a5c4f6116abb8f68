// SPDX-License-Identifier: MIT
//
// A way back to the thread that owns a loop: any thread posts, and that thread runs the tasks.
//
//   handoff::LoopExecutor ui;                                   // of the main thread
//   pool.post([&] { ui.post([&, text = load()] { label.set(text); }); });      // any thread
//   auto shown = pool.submit(load).then(ui, [&](const Text& text) { label.set(text); });
//   loop.add(ui.descriptor(), [&] { ui.drain(); });             // poll, epoll, libuv, Qt, GLib
//   while (ui.wait(stop) == handoff::Status::ok) ui.drain();    // a thread with no other loop
//
// For: what only one thread may touch (widgets, a context, a socket's state), whose loop is another
// library's, a frame's or this one. Not for: a thread that should be the object's own
// (ActiveObject), events with listeners (EventQueue), messages of known types (MessageBus).
//
// Contract: executor tier, drained by its owner. It is an Executor.
// - Concurrency: thread-safe, but drain(), drain_for(), wait(), close() and the destructor are one
//   thread's at a time, the owner's. A task may drain inside itself, as a dialog does. Inside a
//   task close() is misuse.
// - Order: FIFO for each producer, and causal between producers. What came before post() happens
//   before the task. A task that is posted during a drain waits for the next one.
// - Blocks: a call for some instructions of another one, among them a system call where the owner
//   is to be woken. wait().
// - Wakes: the descriptor is an eventfd. It is written when there is something to drain again, not
//   for each task, and stays readable until a drain leaves nothing. It is made by the first
//   descriptor(); without one no call goes to the kernel but to wake a thread out of wait().
// - Allocates: post() nothing for a closure of up to 48 bytes, once the list has grown to what is
//   needed. submit() once.
// - Closed: after shut() or close() it refuses; drain() runs what is left. Full: never.
// - Closing: by the owner. close(Closing::finish) runs all, close(Closing::finish_until(t)) what
//   can begin until t, close(Closing::abandon) nothing more; each returns the exact Tally. The
//   destructor destroys what is left and runs nothing.
// - Exceptions: one of a task with a Future goes there. Any other ends the drain and leaves it: its
//   task counts as failed, and the rest stays for the next drain. From close() it is told
//   (core/on_unheard.hpp).
// - Waits: get() of the loop's own Future on its thread waits for ever, outside of tasks too: use
//   then(). Future::cancel() says false.
// - Fork: a child has the descriptor of its parent. Give it a loop of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/inbox_calls.hpp>
#include <handoff/pool/detail/task_inbox.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class LoopExecutor : public detail::InboxCalls<LoopExecutor> {
 public:
  LoopExecutor() noexcept = default;
  ~LoopExecutor();
  LoopExecutor(const LoopExecutor&) = delete;
  LoopExecutor& operator=(const LoopExecutor&) = delete;

  // Runs the tasks that are there at the call. Returns how many.
  std::size_t drain() { return drain_until(sync::no_deadline); }

  // Begins none of them after this time. What is left keeps the descriptor readable. A time of
  // nothing runs one.
  template <class Rep, class Period>
  std::size_t drain_for(std::chrono::duration<Rep, Period> time) {
    return drain_until(sync::deadline_after(time));
  }

  // Waits while there is nothing to drain. ok; closed, and nothing is left; timed_out or stopped.
  Status wait(const Until& until = {});

  // Readable while there is something to drain. It is the loop's: neither read nor close it. Throws
  // std::system_error if the system refuses it.
  [[nodiscard]] int descriptor();

  // Accepts nothing more; any thread.
  void shut() noexcept;

  // See the head comment.
  Tally close(const Closing& closing = Closing::finish);

  // What became of the tasks so far. Exact when nothing is being handed over and nothing runs.
  [[nodiscard]] Tally tally() const;

  // One task at a time.
  [[nodiscard]] static constexpr std::size_t width() noexcept { return 1; }

 private:
  friend detail::InboxCalls<LoopExecutor>;

  // Only the owner runs its tasks.
  static detail::FutureHost* host() noexcept { return nullptr; }

  template <class Make>
  Status put(const Make& make, bool /*waits*/) {
    const sync::Lock lock(mutex_);
    if (is_closed_) return Status::closed;
    inbox_.put(make);
    if (!is_told()) [[unlikely]]
      tell();
    return Status::ok;
  }

  bool is_told() const noexcept {
    // order: relaxed, what the owner is to find comes with the mutex.
    return is_told_.load(sync::order::relaxed);
  }
  void tell() noexcept;
  void rest() noexcept;
  bool is_empty() const noexcept { return !inbox_.has_taken() && !inbox_.has_incoming(); }
  std::size_t drain_until(sync::Deadline deadline);
  bool has_next() noexcept;
  void end_drain() noexcept;
  std::exception_ptr run_next(detail::Outcome wish) noexcept;

  // With the mutex; but what a drain has taken is its own.
  mutable sync::Mutex mutex_;
  detail::TaskInbox inbox_;
  bool is_closed_ = false;
  // The descriptor is readable, if there is one: the owner will look. Read without the mutex too.
  sync::atomic<bool> is_told_{false};
  int event_ = -1;
  std::exception_ptr first_failure_;
  std::uint32_t waiting_ = 0;
  sync::EventCount arrivals_;

  // The owner's.
  std::uint64_t begun_ = 0;
  std::uint32_t depth_ = 0;  // tasks that run, one inside the other
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

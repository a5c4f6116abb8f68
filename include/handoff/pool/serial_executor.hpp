// SPDX-License-Identifier: MIT
//
// A strand: runs its tasks in order, one at a time, on the threads of another executor.
//
//   handoff::ThreadPool pool;
//   handoff::SerialExecutor log(pool);                        // what only its tasks touch: no lock
//   log.post([&] { lines.push_back("started"); });            // any thread
//   std::size_t many = log.submit([&] { return lines.size(); }).get();
//   auto shown = pool.submit(load, path).then(log, [&](const Text& text) { show(text); });
//   handoff::Tally tally = log.close();
//
// For: state that many threads change, without a lock and without a thread of its own. Not for:
// state that must stay on one thread (ActiveObject, LoopExecutor); many keys (MessageWorkers).
//
// Contract: executor tier. It is an Executor, so loops, then(strand, f) and other strands take it.
// - Concurrency: thread-safe; its tasks may call it, but not a function's copy or move constructor.
//   Inside a task of the strand wait(), close() and destruction are misuse. The executor outlives
//   the strand.
// - Order: FIFO for each producer, and causal between producers. Each task happens before the next
//   one, whatever their threads; what came before post() happens before the task.
// - Blocks: a call for some instructions of another one. wait(), close() and the destructor, until
//   the executor has run the tasks: over a LoopExecutor that is not to be its own thread. post()
//   and submit() also as the executor's own post() does, if it has one and no task is waiting.
// - Turns: an empty strand has no thread. The first task hands one function to the executor, which
//   runs up to 16 tasks, then goes behind what else the executor has. (In `stealing` and `active`
//   pools a worker prefers what its own tasks hand over: where others must not wait, use `fixed`.)
// - Allocates: submit() once; post() of up to 48 bytes nothing, once the list has grown enough.
// - Full, closed executor: its Status comes back, with the function unmoved, where the strand was
//   empty; else the strand accepts, as it has a turn. If the executor refuses to take the turn
//   again, the thread that has it goes on. In the rare case that other threads handed over while
//   the executor said no, their tasks run on the thread that was refused if it said full, and are
//   cancelled if it said closed. What an executor destroys uncalled is cancelled.
// - Closing: close(how) runs all, what can begin until a moment, or nothing more, and returns the
//   exact Tally; a second close() the same. The destructor finishes.
// - Exceptions: they go to the task's Future; without one, to on_error; without that, the next
//   wait() rethrows the first. What nobody takes is told (core/on_unheard.hpp). The task counts as
//   failed, and the next one runs.
// - Waits: any number of the pool's tasks may wait for submit(): one of them runs the strand if no
//   thread does. In other waits a stand-in works, 64 a pool. A task that waits for a later one of
//   its own strand waits for ever: use then(). Future::cancel() says false.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/detail/inbox_calls.hpp>
#include <handoff/pool/detail/strand.hpp>
#include <handoff/pool/internal/pool_host.hpp>
#include <handoff/pool/serial_executor_options.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class E>
class SerialExecutor : public detail::InboxCalls<SerialExecutor<E>> {
  static_assert(Executor<E>, "SerialExecutor: what it runs on is an Executor (core/executor.hpp)");

 public:
  // Hands over to `executor`, which it refers to. Throws std::bad_alloc.
  explicit SerialExecutor(E& executor, const SerialExecutorOptions& options = {})
      : executor_(executor),
        strand_(new detail::Strand(&executor, &pass_on, detail::pool_host(executor), options)) {}

  SerialExecutor(const SerialExecutor&) = delete;
  SerialExecutor& operator=(const SerialExecutor&) = delete;

  // Until nothing is unfinished: ok, timed_out or stopped. Rethrows the first failure, since the
  // last call, of a task with neither Future nor on_error.
  Status wait(const Until& until = {}) { return strand_->wait(until); }

  // See the head comment.
  Tally close(const Closing& closing = Closing::finish) { return strand_->close(closing); }

  // What became of the tasks so far. Exact when nothing is being handed over and nothing runs.
  [[nodiscard]] Tally tally() const { return strand_->tally(); }

  // One task at a time.
  [[nodiscard]] static constexpr std::size_t width() noexcept { return 1; }

  // Whether the calling thread runs a task of this strand.
  [[nodiscard]] bool running_in_this_thread() const noexcept { return strand_->is_here(); }

 private:
  friend detail::InboxCalls<SerialExecutor>;

  detail::FutureHost* host() noexcept { return strand_->host(); }

  static Status pass_on(void* executor, detail::Strand::Turn& turn) {
    return static_cast<E*>(executor)->try_post(std::move(turn));
  }

  template <class Make>
  Status put(const Make& make, bool waits) {
    return strand_->put(make, [&](auto turn) {
      if constexpr (requires {
                      { executor_.post(std::move(turn)) } -> std::same_as<void>;
                    }) {
        if (waits) {
          executor_.post(std::move(turn));
          return Status::ok;
        }
      }
      return executor_.try_post(std::move(turn));
    });
  }

  E& executor_;
  detail::Strand::Owner strand_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

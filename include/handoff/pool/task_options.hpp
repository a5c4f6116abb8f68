// SPDX-License-Identifier: MIT
//
// What may be said of a task besides its function.
//
//   pool.post(redraw, {.priority = handoff::Priority::high});
//   auto answer = pool.submit([=] { return ask(server); }, {.until = 2s});
//   pool.post(flush, {.name = "flush", .worker = 0});
//   pool.post_every(100ms, beat, {.until = token});
//
// In a coroutine that g++ 12 compiles, a stop token in braces inside a co_await expression is
// destroyed twice, by a fault of that compiler. Keep the Future first:
//
//   auto answer = pool.submit([=] { return ask(server); }, {.until = token});
//   use(co_await answer);
#pragma once

#include <cstddef>
#include <optional>

#include <handoff/config.hpp>
#include <handoff/core/internal/wrong_field.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/until.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct TaskOptions {
  // What on_error, NotRun and a trace call it; a literal, or what outlives task and Future.
  const char* name = "";

  // A task that would begin later is not begun. If the moment has passed, it counts as expired, and
  // its Future has NotRun (timed_out); if a stop has been requested, it counts as cancelled, and
  // its Future has NotRun (stopped). A duration counts from where the options are made.
  KeptUntil until = {};
  [[no_unique_address]] detail::CalledUntil<0> deadline = {};  // no field
  [[no_unique_address]] detail::CalledUntil<1> stop = {};  // no field

  // The next task of a worker, when the one that it runs has ended, is an urgent one, then one of
  // high priority, whatever lies in its own deque; one of low priority, where it would have nothing
  // else to do. Less urgent ones may wait for ever, unless the pool has a starvation_limit. No
  // running task is interrupted, a loop's part included, and a task that waits for its own ones
  // runs those alone.
  Priority priority = Priority::normal;

  // The worker that runs it, by index, below width(); any, if none is named. Tasks for a worker
  // begin in the order in which they were handed over, before others of normal priority, whatever
  // their own one is. They are not counted for the capacity. In `cached` a worker without a thread
  // gets one; if the system refuses it, std::system_error says so and nothing was handed over.
  // While the worker blocks, in blocking() too, they wait: a task on that worker must not wait for
  // one of them. An index too large is misuse.
  std::optional<std::size_t> worker = {};
};

}}  // namespace handoff::HANDOFF_ABI

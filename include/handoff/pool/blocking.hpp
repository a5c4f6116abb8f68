// SPDX-License-Identifier: MIT
//
// A wait that does not help, inside a task: meanwhile another thread works in its place.
//
//   std::string line = handoff::blocking([&] { return read_line(socket); });
//
// For: input and output, locks that are held for long, waits for a std::future, for another task's
// progress or another process, in a pool as wide as there are CPUs. Not for: Future::get(), which
// helps, and lends by itself; TaskGroup and loops, which help; waits of some microseconds. Where
// all tasks wait most of their time the mode `cached` is simpler.
//
// Contract: executor tier.
// - Concurrency: any thread. Outside of tasks it only calls the function. Regions may lie inside
//   each other; the outermost counts.
// - What happens: as long as the function runs the pool may have one worker more than its width,
//   with an index from width() on; a thread is started for it when there is work that nobody else
//   takes. When the function has returned, one such thread ends as soon as it has ended its task.
//   In a task that works for several pools, one inside the other, each gets a stand-in.
// - Blocks: as the function does. Allocates: when a thread is started.
// - Full: there are 64 stand-ins a pool, shared with threads from outside that help. Where there is
//   none, or no thread to be had, the function is called all the same.
// - Closed: as ever; a close waits for the task.
// - Exceptions: the function's.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/workplace.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Calls function() and returns what it returns.
template <class F>
decltype(auto) blocking(F&& function) {
  static_assert(std::is_invocable_v<F>, "blocking: what waits is a function without arguments");
  const detail::Lending lending;
  return detail::invoke(std::forward<F>(function));
}

}}  // namespace handoff::HANDOFF_ABI

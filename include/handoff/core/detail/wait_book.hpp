// SPDX-License-Identifier: MIT
//
// The book of waits, as a Future sees it: a watchdog that finds waits which never end. Not for
// users.
//
// A process has one, kept by the pools, for executors that watch (FutureHost::watches()). If none
// does, it is never asked.
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/detail/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FutureState;
class Workplace;

// A wait that is in the book.
class WaitEntry {
 public:
  // It waits for this result, too. The caller keeps the state alive during the call.
  virtual void add(FutureState& state) noexcept = 0;
  // From here on the thread runs nothing. What it throws ends the wait.
  virtual void fall_asleep() = 0;

 protected:
  ~WaitEntry() = default;
};

class WaitBook {
 public:
  WaitBook(const WaitBook&) = delete;
  WaitBook& operator=(const WaitBook&) = delete;

  // Sets the book, before an executor watches. Idempotent.
  static void keep(WaitBook& book) noexcept;
  static WaitBook& kept() noexcept;

  // A result is made on this thread: calls state.compute().
  virtual Outcome run(FutureState& state) noexcept = 0;

  // This thread waits: calls state.wait_in_task().
  virtual Status wait(FutureState& state, const sync::StopToken& stop) = 0;

  // A state that an entry has added is ready.
  virtual void forget(const FutureState& state) noexcept = 0;

 protected:
  WaitBook() noexcept = default;
  ~WaitBook() = default;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

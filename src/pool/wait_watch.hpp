// SPDX-License-Identifier: MIT
//
// Which tasks with a Future run where, and which of them sleep for whose result: kept only in pools
// that ask for it (ThreadPoolOptions::on_wait_cycle), to find waits that will never end.
//
// All such pools share one book, so that a cycle through several is found too. Threads are named by
// their outermost worker: a stack of tasks may be continued on another thread.
// Concurrency: anybody. Allocates: the report of a cycle.
#pragma once

#include <handoff/pool/future.hpp>
#include <handoff/pool/wait_cycle.hpp>
#include <handoff/pool/worker.hpp>

namespace handoff::inline HANDOFF_ABI::detail {

// The two lists.
struct WatchBook {
  // Under the lock.
  template <class Entry>
  static void enter(Entry*& list, Entry& entry) noexcept;
  // Takes the lock.
  template <class Entry>
  static void leave(Entry*& list, Entry& entry) noexcept;
  // Under the lock.
  template <class Entry, class Condition>
  static const Entry* latest(const Entry* list, Condition&& condition) noexcept;
};

// A task runs on this thread as long as this lives.
class WatchedRun {
 public:
  explicit WatchedRun(const FutureState& state) noexcept;
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

 private:
  friend class WatchedWait;
  friend struct WatchBook;

  const FutureState& state_;
  const Worker* const thread_;
  WatchedRun* next_ = nullptr;
  WatchedRun* previous_ = nullptr;
};

// The task that runs on this thread sleeps for a result as long as this lives.
class WatchedWait {
 public:
  // Throws std::bad_alloc.
  explicit WatchedWait(const FutureState& awaited);
  ~WatchedWait();
  WatchedWait(const WatchedWait&) = delete;
  WatchedWait& operator=(const WatchedWait&) = delete;

  // The cycle that this wait closed; without tasks if it closed none.
  const WaitCycle& cycle() const noexcept { return cycle_; }

 private:
  friend struct WatchBook;

  // Under the lock.
  static const WatchedRun* run_of(const FutureState& state) noexcept;
  static const WatchedRun* innermost_run(const Worker* thread) noexcept;
  static const WatchedWait* wait_of(const Worker* thread) noexcept;
  static WaitCycle::Task describe(const Worker* thread);
  WaitCycle find_cycle() const;

  const FutureState& awaited_;
  const Worker* const thread_;
  WaitCycle cycle_;
  WatchedWait* next_ = nullptr;
  WatchedWait* previous_ = nullptr;
};

}  // namespace handoff::inline HANDOFF_ABI::detail

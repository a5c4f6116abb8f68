// SPDX-License-Identifier: MIT
//
// Which tasks run where, and which threads sleep for what: kept only in pools that ask for it
// (ThreadPoolOptions::on_wait_cycle), to find waits that will never end.
//
// All such pools share one book, so that a circle through several is found too; only pools watch.
// Threads are named by their outermost place: a stack of tasks may be continued on another thread.
// Concurrency: anybody. Allocates: the list of what a wait hangs on, and the report of a circle.
#pragma once

#include <cstddef>
#include <vector>

#include <handoff/core/detail/future_host.hpp>
#include <handoff/core/detail/future_state.hpp>
#include <handoff/core/detail/wait_book.hpp>
#include <handoff/core/detail/workplace.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/wait_cycle.hpp>

#include "timers.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The first in this chain whose pool has a watchdog; null: none.
inline const Workplace* watching(const Workplace* place) noexcept {
  while (place != nullptr && !place->host.watches()) place = place->outer;
  return place;
}

// Makes this the book of the process.
void keep_wait_book() noexcept;

// A FutureState's result is made, or a task of a TaskGroup or a TimedTask runs, on this thread as
// long as this lives.
class WatchedRun {
 public:
  WatchedRun(const void* what, const char* name) noexcept;
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

 private:
  friend class WatchedWait;
  friend struct WatchBook;

  const void* const what_;
  const char* const name_;  // see FutureState::name()
  const Workplace* const thread_;
  WatchedRun* next_ = nullptr;
  WatchedRun* previous_ = nullptr;
};

// This thread waits as long as this lives: for states that are added, for a group, for the end of a
// timed task's run, or until nothing of a pool is unfinished. From fall_asleep() on it runs nothing
// any more.
class WatchedWait final : public WaitEntry {
 public:
  WatchedWait() noexcept : WatchedWait(nullptr, nullptr, nullptr) {}
  explicit WatchedWait(const GroupTasks& group) noexcept : WatchedWait(&group, &group, nullptr) {}
  explicit WatchedWait(const TimedTask& task) noexcept : WatchedWait(&task, nullptr, nullptr) {}
  explicit WatchedWait(const Engine& pool) noexcept : WatchedWait(nullptr, nullptr, &pool) {}
  ~WatchedWait();
  WatchedWait(const WatchedWait&) = delete;
  WatchedWait& operator=(const WatchedWait&) = delete;

  void add(FutureState& state) noexcept override;
  // Tells a pool that the thread works for of the circle that this closes, if it closes one. Throws
  // what the hook throws, and std::bad_alloc.
  void fall_asleep() override;
  // For waits that nobody can be thrown out of.
  void fall_asleep_quietly() noexcept;

  // The result of a state that was added somewhere is there.
  static void forget(const FutureState& state) noexcept;

 private:
  friend struct WatchBook;

  WatchedWait(const void* what, const GroupTasks* group, const Engine* pool) noexcept;

  // All under the lock.
  WaitCycle cycle();
  const FutureState* unbegun() const noexcept;
  bool has_unbegun_tasks() const noexcept;
  bool waits_for(const WatchedRun& run) const noexcept;
  const FutureHost* host_of_unbegun() const noexcept;
  bool works_for(const FutureHost& host) const noexcept;
  bool waits_for_idle_of(const WatchedWait& other) const noexcept;
  bool is_stuck() const noexcept;
  WaitCycle report() const;
  static WatchedWait* sleep_of(const Workplace* thread) noexcept;
  static bool nobody_works_for(const FutureHost& host) noexcept;
  static void find_stuck() noexcept;
  template <class Visit>
  void each_waited_for(Visit&& visit) noexcept;
  bool closes_circle() noexcept;

  const void* const what_;  // a group or a timed task
  const GroupTasks* const group_;  // the same
  const Engine* const pool_;
  std::vector<const FutureState*> states_;  // whose results are not there
  const Workplace* const slot_;  // the thread's workplace()
  const Workplace* const thread_;
  bool incomplete_ = false;  // no memory
  bool asleep_ = false;
  WatchedWait* next_ = nullptr;
  WatchedWait* previous_ = nullptr;

  // Of a search.
  bool stuck_ = false;
  bool seen_ = false;
  WatchedWait* from_ = nullptr;
  WatchedWait* to_search_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

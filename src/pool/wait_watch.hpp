// SPDX-License-Identifier: MIT
//
// Which tasks run where, and which threads sleep for what: kept only in pools that ask for it
// (ThreadPoolOptions::on_wait_cycle), to find waits that will never end.
//
// All such pools share one book, so that a circle through several is found too. Threads are named
// by their outermost worker: a stack of tasks may be continued on another thread.
// Concurrency: anybody. Allocates: the list of what a wait hangs on, and the report of a circle.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/timers.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/future.hpp>
#include <handoff/pool/wait_cycle.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The first in this chain whose pool has a watchdog; null: none.
inline const Worker* watching(const Worker* worker) noexcept {
  while (worker != nullptr && !worker->engine.watches()) worker = worker->outer;
  return worker;
}

// A FutureState's result is made, or a task of a TaskGroup or a TimedTask runs, on this thread as
// long as this lives.
class WatchedRun {
 public:
  WatchedRun(const void* what, std::string_view name) noexcept;
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

 private:
  friend class WatchedWait;
  friend struct WatchBook;

  const void* const what_;
  const std::string_view name_;
  const Worker* const thread_;
  WatchedRun* next_ = nullptr;
  WatchedRun* previous_ = nullptr;
};

// This thread waits as long as this lives: for states that are added, for a group, for the end of a
// timed task's run, or until nothing of a pool is unfinished. From fall_asleep() on it runs nothing
// any more.
class WatchedWait {
 public:
  WatchedWait() noexcept : WatchedWait(nullptr, nullptr, nullptr) {}
  explicit WatchedWait(const GroupTasks& group) noexcept : WatchedWait(&group, &group, nullptr) {}
  explicit WatchedWait(const TimedTask& task) noexcept : WatchedWait(&task, nullptr, nullptr) {}
  explicit WatchedWait(const Engine& pool) noexcept : WatchedWait(nullptr, nullptr, &pool) {}
  ~WatchedWait();
  WatchedWait(const WatchedWait&) = delete;
  WatchedWait& operator=(const WatchedWait&) = delete;

  // A state that it hangs on, too. The caller keeps it alive during the call.
  void add(FutureState& state) noexcept;

  // Tells a pool that the thread works for of the circle that this closes, if it closes one. Throws
  // what the hook throws, and std::bad_alloc.
  void fall_asleep();
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
  const Engine* engine_of_unbegun() const noexcept;
  bool works_for(const Engine& engine) const noexcept;
  bool waits_for_idle_of(const WatchedWait& other) const noexcept;
  bool is_stuck() const noexcept;
  WaitCycle report() const;
  static WatchedWait* sleep_of(const Worker* thread) noexcept;
  static bool nobody_works_for(const Engine& engine) noexcept;
  static void find_stuck() noexcept;
  template <class Visit>
  void each_waited_for(Visit&& visit) noexcept;
  bool closes_circle() noexcept;

  const void* const what_;  // a group or a timed task
  const GroupTasks* const group_;  // the same
  const Engine* const pool_;
  std::vector<const FutureState*> states_;  // whose results are not there
  const Worker* const slot_;  // the thread's worker_slot()
  const Worker* const thread_;
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

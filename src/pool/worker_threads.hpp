// SPDX-License-Identifier: MIT
//
// The threads of a pool's workers: which worker has one, which one gets one when there is work, and
// which one gives it back.
//
// A worker sleeps, or is absent: without a thread, which it gets when it is called. What a thread
// does, and whether there is work, its Duty knows: nothing here knows of tasks.
// A worker that blocks is replaced by a stand-in: a slot of the crew with a thread of its own,
// which is absent until there is work for it. When the worker goes on, one stand-in is one too
// many.
//
// Concurrency: anybody; serve() is entered by each thread. start() and stop() are the pool's;
// stop()
//   comes before the end of what the threads use, once one was started.
// Blocks: stop(), for the threads. Allocates: starting a thread.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/pool/detail/work_calls.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

struct PoolStatistics;
struct ThreadPoolOptions;

namespace detail {

class Crew;
struct Worker;

class WorkerThreads final : public WorkCalls {
 public:
  // What the threads are for.
  class Duty {
   public:
    // Works as this worker until is_over() or may_leave() says so. `called`: it counts as searching
    // already.
    virtual void serve(Worker& worker, bool called) noexcept = 0;
    // Whether there is something to do for any worker.
    virtual bool has_work() const noexcept = 0;
    // ... or for this one alone.
    virtual bool has_work_for(const Worker& worker) const noexcept = 0;

   protected:
    ~Duty() = default;
  };

  // The options outlive this. `core`: threads that stay.
  WorkerThreads(const ThreadPoolOptions& options, Crew& crew, std::size_t core);
  // Starts the core. Throws std::system_error if not even one thread is to be had, and
  // std::bad_alloc.
  void start(Duty& duty);
  // Lets all threads end, and waits for them.
  void stop() noexcept;
  bool is_over() const noexcept {
    // order: relaxed. The wake_all() after the store comes before a worker was listed, under the
    // same lock, so that it is seen here; or after, and wakes it.
    return quitting_.load(sync::order::relaxed);
  }
  // By a worker that has found it over: what came before the end is seen from here on.
  void see_the_end() const noexcept {
    (void)quitting_.load(sync::order::acquire);  // order: acquire pairs with the release in stop()
    sync::tell_taken(&quitting_);
  }

  // The most that run at a time.
  std::size_t width() const noexcept { return width_; }

  // Where they may run, if the options do not say so: where the pool's maker may.
  const sync::CpuSet& where() const noexcept { return where_; }

  // For a thread that kept others from calling: is somebody to be called now?
  bool is_somebody_wanted() noexcept;
  // This worker, whether it sleeps or is absent. Throws std::system_error and std::bad_alloc.
  void call(Worker& worker);

  // The thread of a worker is about to block: another one works for it, when there is work. False:
  // there is nobody to be had.
  bool lend() noexcept;
  // It goes on.
  void take_back() noexcept;
  // Whether one stand-in, this one, is to end.
  bool take_surplus() noexcept;
  bool has_surplus() const noexcept {
    // order: relaxed, see Sleepers::wake_from().
    return surplus_.load(sync::order::relaxed) != 0;
  }

  // Whether more threads than the core are there: then one that finds nothing to do until the
  // deadline may leave.
  sync::Deadline leave_at() const noexcept;
  // Whether one of those beyond the core, this one, is to leave.
  bool take_leave() noexcept;

  void add_to(PoolStatistics& statistics) const noexcept;

 private:
  template <class>
  friend struct Books;

  void start(std::size_t index, bool called);
  void start_absent(Sleepers::Place& place) noexcept override;
  void start_called(Sleepers::Place& place);
  void not_started(Sleepers::Place& place) noexcept;
  void live(Worker& worker, bool called) noexcept;
  void stand_in(Worker& spare) noexcept;
  bool may_end(Worker& worker) noexcept;

  const ThreadPoolOptions& options_;
  Crew& crew_;
  Duty* duty_ = nullptr;
  const std::size_t core_;
  std::size_t width_ = 0;
  const sync::CpuSet where_;
  std::vector<sync::Thread> threads_;  // by index; changed by the caller of an absent worker
  sync::Mutex calling_;  // held to give a thread to an absent worker
  sync::atomic<bool> quitting_;
  sync::relaxed<std::size_t> present_;  // workers that have a thread
  sync::relaxed<std::uint64_t> started_;  // threads, ever
  sync::relaxed<std::size_t> stand_ins_;  // threads that stand in for blocked ones
  sync::atomic<std::size_t> surplus_;  // stand-ins whose workers are back
  sync::relaxed<std::uint64_t> lent_;  // stand-ins, ever
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

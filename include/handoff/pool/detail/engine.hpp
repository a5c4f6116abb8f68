// SPDX-License-Identifier: MIT
//
// The inside of a ThreadPool: how a task comes in, and the life of the pool up to its close. Not
// for users.
//
// Its parts no template needs, so users compile no more than their names:
// src/pool/engine_parts.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/future_host.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/admission.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/internal/pool_host.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

class ThreadPool;
struct PoolStatistics;
struct TaskOptions;
struct ThreadPoolOptions;

namespace detail {

class Completion;
struct EngineParts;
class TaskRunner;
class TimedTask;
class Timers;

class Engine final : public FutureHost {
 public:
  explicit Engine(const ThreadPoolOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::size_t width() const noexcept;
  std::size_t capacity() const noexcept;
  std::size_t indices() const noexcept;

  // What the calling thread is in this pool; null: nothing.
  Worker* worker_here() const noexcept {
    Workplace* place = workplace();
    while (place != nullptr && &place->host != this) place = place->outer;
    return static_cast<Worker*>(place);
  }

  // The way in.
  Reservation reserve() { return admission_.reserve(worker_here()); }
  Reservation reserve(Priority priority) { return admission_.reserve(worker_here(), priority); }
  Reservation try_reserve() { return admission_.try_reserve(worker_here()); }
  // As the options say, which may name a worker.
  Reservation reserve(const TaskOptions& options);
  Reservation try_reserve(const TaskOptions& options);
  Admission& admission() noexcept { return admission_; }

  // For a timed task with such options. Made at their first use. Null once closed. Throws
  // std::bad_alloc.
  Timers* timers_for(const TaskOptions& options);

  // The way of a task that waits, on a thread that works for this pool.
  TaskRunner& runner() noexcept;
  Completion& completion() noexcept;
  // Calls it as the thread that this is, on a stack that is not short.
  void call_on_stack(const Workplace::Call& call) noexcept;

  // As the host of Futures. A thread that does not work for this pool is a visitor from before it
  // runs the task until it has been counted.
  void visit(FutureState& task) noexcept override;
  void note_failure(const std::exception_ptr& failure) noexcept override;

  // A thread from outside works for the pool, until it has stood up as often as it sat down. Null:
  // it cannot, and has to wait idly.
  Worker* sit_down() noexcept;
  void stand_up(Worker& guest) noexcept;

  // For blocking(): see WorkerThreads.
  bool lend() noexcept;
  void take_back() noexcept;

  // Nothing of the pool is unfinished, or somebody may believe so: tells the waiting threads.
  void tell_idle() noexcept;

  // The program's static objects end: closes, and from then on a thread that hands over a task runs
  // it. False, and nothing is done, where that would wait for itself or for threads of another
  // process: in a task of this pool, and in a fork.
  bool end() noexcept;

  // See ThreadPool.
  Status wait(sync::Deadline deadline, const sync::StopToken& stop);
  void pause() noexcept;
  void resume() noexcept;
  Tally close(const Closing& closing);
  Tally tally() const;
  PoolStatistics statistics() const;

 private:
  template <class>
  friend struct Books;

  void check_worker(std::size_t index) const;
  void hand_over_due(TimedTask& due);
  void close_timers() noexcept;
  void help_until_idle(Worker& worker) noexcept;
  [[gnu::cold]] void end_tasks(const Closing& closing);
  void finish(const Closing& closing) noexcept;
  void drop_leftovers() noexcept;

  std::unique_ptr<EngineParts> parts_;
  const sync::Origin origin_ = sync::Origin::here();
  Admission admission_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

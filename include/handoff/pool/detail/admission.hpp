// SPDX-License-Identifier: MIT
//
// The way into a pool: a thread that hands over a task gets a TaskPlace here, or hears that the
// pool is closed or full. Not for users.
//
// Inside a task of the pool the place is in the worker's own deque, if the mode keeps such tasks
// local; else it is in a queue, where a capacity and OnFull apply.
//
// Concurrency: anybody. Order: as the mode's.
// Full: a task that is run by the thread that hands it over may hand over more. Deep inside such
// tasks (inside.hpp) a task goes into the queue beyond the capacity. After the end of the program's
// pool its tasks are run by the threads that hand them over.
// Blocks: reserve() for room, with OnFull::wait, outside the pool's tasks. Allocates: what the
// queue or the worker's nodes need; std::bad_alloc: nothing was accepted. Closed: refuses all but
// tasks of groups and of timers.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/task_place.hpp>
#include <handoff/pool/detail/task_source.hpp>
#include <handoff/pool/detail/unqueued_tasks.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct EngineParts;

class Admission {
 public:
  explicit Admission(EngineParts& parts) noexcept;

  // `here`: what the calling thread is in this pool; null: nothing.
  Reservation reserve(Worker* here) {
    if (here != nullptr && here->depth != 0 && keeps_local_) return reserve_local(*here);
    return place_also_after_end(bounded_ ? ask(here, Priority::normal, on_full_)
                                         : Answer{.task = source_.reserve()});
  }
  Reservation reserve(Worker* here, Priority priority) {
    return priority == Priority::normal ? reserve(here)
                                        : place_also_after_end(ask(here, priority, on_full_));
  }

  // Where there is no room it says so, whatever OnFull is.
  Reservation try_reserve(Worker* here) {
    if (here != nullptr && here->depth != 0 && keeps_local_) return reserve_local(*here);
    return place_of(bounded_ ? ask(here, Priority::normal, OnFull::reject)
                             : Answer{.task = source_.reserve()});
  }
  Reservation try_reserve(Worker* here, Priority priority) {
    return priority == Priority::normal ? try_reserve(here)
                                        : place_of(ask(here, priority, OnFull::reject));
  }

  // For the worker of this index alone. Throws std::system_error if there is no thread to be had
  // for it.
  Reservation reserve_for(std::size_t index) { return place_also_after_end(ask_for(index), true); }
  Reservation try_reserve_for(std::size_t index) { return place_of(ask_for(index), true); }

  // For a task of a group, in two steps, as the group counts it in between: an empty node of a
  // worker, this thread, which throws std::bad_alloc, and its place in the deque. Never refused.
  static Task& node_of(Worker& worker, GroupTasks* group) {
    sync::taken(&worker);  // another thread may have sat there before
    worker.spawned.reserve();
    Task* const task = worker.nodes.take();
    task->group.write() = group;
    return *task;
  }
  Reservation place_in(Worker& worker, Task& node) noexcept {
    return Reservation::local(node, calls_, worker);
  }

  // For a task that a worker, this thread, makes beside those of its user. Never refused.
  Reservation reserve_in(Worker& worker) {
    Task& node = node_of(worker, nullptr);
    worker.end_part();
    return place_in(worker, node);
  }

  // For a timed task: as there is none after the close of the timers, never refused. It takes room
  // even if there is none: a moment that has come cannot wait.
  Reservation reserve_due(Priority priority) {
    return place_of({.task = take_in_advance(priority)});
  }

  WorkCalls& calls() noexcept { return calls_; }

 private:
  friend class TaskPlace;

  // What a queue, or the door of a full pool, answers; small enough for registers.
  struct Answer {
    Task* task = nullptr;  // null: refused
    Status why = Status::closed;
    bool run_here = false;  // refused, but the caller is to run it
  };

  Reservation reserve_local(Worker& worker) {
    if (unqueued_.closed()) return Reservation::none(Status::closed);
    return reserve_in(worker);
  }
  Reservation place_of(const Answer& answer, bool called = false) noexcept {
    if (answer.task == nullptr) [[unlikely]]
      return answer.run_here ? Reservation::here(*this) : Reservation::none(answer.why);
    sync::taken(sync::end_of(answer.task));
    answer.task->group.write() = nullptr;
    return Reservation::queued(*answer.task, calls_, called);
  }
  // The same, but a task after the end of the program's pool runs on its caller's thread.
  Reservation place_also_after_end(Answer answer, bool called = false) noexcept {
    if (answer.task == nullptr && !answer.run_here) [[unlikely]]
      answer.run_here = answer.why == Status::closed && unqueued_.accept_after_end();
    return place_of(answer, called);
  }
  Answer ask(Worker* here, Priority priority, OnFull on_full);
  Answer ask_for(std::size_t index);
  Task* take_in_advance(Priority priority);
  Task* task_of(Priority priority);

  EngineParts& parts_;
  UnqueuedTasks& unqueued_;
  WorkCalls& calls_;
  TaskSource& source_;
  const bool keeps_local_;
  const bool bounded_;
  const OnFull on_full_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

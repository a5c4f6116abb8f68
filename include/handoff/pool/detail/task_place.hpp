// SPDX-License-Identifier: MIT
//
// A place for one task, got from a pool's Admission: the task is made in it, and goes its way when
// the place ends. Not for users.
//
//   ClosureMaker<F> maker;                        // memory for a large closure, before the place
//   TaskPlace place = admission.reserve(worker);  // accepted from here on, or refused
//   return place.fill(maker, function);           // refused: the function is unmoved
//
// From the reservation on the task counts as accepted. So whatever happens something is published:
// if making the closure throws, a stillborn task, which does nothing and counts as cancelled.
//
// Concurrency: its thread's. Order: what came before the end of a place happens before the task.
// Blocks, allocates: never. Exceptions: fill() throws what making the closure does.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/work_calls.hpp>
#include <handoff/pool/detail/worker.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Admission;

class [[nodiscard]] TaskPlace {
 public:
  // None: why not.
  explicit TaskPlace(Status why) noexcept : status_(why) {}
  // In a queue. `called`: who is to run it knows already.
  TaskPlace(Task& task, WorkCalls& calls, bool called = false) noexcept
      : task_(&task), calls_(called ? nullptr : &calls) {}
  // In the deque of a worker, this thread.
  TaskPlace(Task& task, WorkCalls& calls, Worker& worker) noexcept
      : task_(&task), calls_(&calls), worker_(&worker) {}
  // Refused by a full pool that has this thread run the task.
  explicit TaskPlace(Admission& refused_by) noexcept : refused_by_(&refused_by) {}

  // Publishes the task, or what is left of it. Inlined also where an exception passes: one call
  // that takes its address would keep the place, and so each hand-over, in memory instead of
  // registers.
  [[gnu::always_inline]] ~TaskPlace() {
    if (task_ != nullptr) [[likely]] {
      publish();
    } else if (refused_by_ != nullptr) {
      count_stillborn(*refused_by_);
    }
  }
  TaskPlace(const TaskPlace&) = delete;
  TaskPlace& operator=(const TaskPlace&) = delete;

  // Whether the task is accepted.
  explicit operator bool() const noexcept { return task_ != nullptr || refused_by_ != nullptr; }
  Status status() const noexcept { return status_; }

  // Makes the task, by maker.make(task, given...), once. ok, or why there is no place; then nothing
  // was touched.
  template <class Maker, class... Given>
  Status fill(Maker&& maker, Given&&... given) {
    if (task_ != nullptr) [[likely]] {
      kind_ = &maker.make(*task_, std::forward<Given>(given)...);
      return Status::ok;
    }
    if (Admission* const by = refused_by_) {
      refused_by_ = nullptr;
      Refused refused(*by);
      refused.kind = &maker.make(refused.task, std::forward<Given>(given)...);
      return Status::ok;
    }
    return status_;
  }

 private:
  void publish() noexcept {
    if (worker_ == nullptr) {
      task_->publish(*kind_);
      if (calls_ != nullptr) calls_->call_for_queued();
    } else {
      task_->kind.store(kind_, sync::order::relaxed);  // order: relaxed, pushed below
      worker_->accepted.add();
      worker_->spawned.push(task_);
      calls_->call_for_pushed();
    }
  }

  // A task that this thread runs once it is made. Made in place: a call that takes the closure by
  // reference would keep it in memory on its way into a queue, too.
  struct Refused {
    explicit Refused(Admission& refused_by) noexcept : by(refused_by) {}
    ~Refused() {
      task.kind.store(kind, sync::order::relaxed);  // order: relaxed, this thread's own
      run_refused(by, task);
    }
    Refused(const Refused&) = delete;
    Refused& operator=(const Refused&) = delete;

    Admission& by;
    const TaskKind* kind = &StillbornKind::kind;
    Task task;
  };
  static void run_refused(Admission& by, Task& task) noexcept;
  static void count_stillborn(Admission& by) noexcept;

  Task* task_ = nullptr;
  WorkCalls* calls_ = nullptr;  // of the pool; null: nobody is to be called
  Worker* worker_ = nullptr;
  Admission* refused_by_ = nullptr;
  const TaskKind* kind_ = &StillbornKind::kind;
  Status status_ = Status::ok;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

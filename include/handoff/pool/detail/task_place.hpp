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
#include <handoff/probe/detail/hook.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Admission;

// What Admission answers. Trivial, so that the hand-over of a task keeps it in registers; the
// TaskPlace made of it owes the task.
struct [[nodiscard]] Reservation {
  // None: why not.
  static Reservation none(Status why) noexcept { return {.status = why}; }
  // In a queue. `called`: the worker that is to run it knows already.
  static Reservation queued(Task& task, WorkCalls& calls, bool called = false) noexcept {
    return {.task = &task, .calls = called ? nullptr : &calls};
  }
  // In the deque of a worker, this thread.
  static Reservation local(Task& task, WorkCalls& calls, Worker& worker) noexcept {
    return {.task = &task, .calls = &calls, .worker = &worker};
  }
  // Refused by a full pool that has this thread run the task.
  static Reservation here(Admission& refused_by) noexcept { return {.refused_by = &refused_by}; }

  Task* task = nullptr;
  WorkCalls* calls = nullptr;  // of the pool; null: nobody is to be called
  Worker* worker = nullptr;
  Admission* refused_by = nullptr;
  Status status = Status::ok;
};

class [[nodiscard]] TaskPlace {
 public:
  // NOLINTNEXTLINE(*-explicit-*): the two are one for all callers
  TaskPlace(const Reservation& reservation) noexcept : reservation_(reservation) {}

  // Publishes the task, or what is left of it. Inlined also where an exception passes: one call
  // that takes its address would keep the place, and so each hand-over, in memory.
  [[gnu::always_inline]] ~TaskPlace() {
    if (reservation_.task != nullptr) [[likely]] {
      publish();
    } else if (reservation_.refused_by != nullptr) {
      count_stillborn(*reservation_.refused_by);
    }
  }
  TaskPlace(const TaskPlace&) = delete;
  TaskPlace& operator=(const TaskPlace&) = delete;

  // Whether the task is accepted.
  explicit operator bool() const noexcept {
    return reservation_.task != nullptr || reservation_.refused_by != nullptr;
  }
  Status status() const noexcept { return reservation_.status; }

  // Makes the task, by maker.make(task, given...), once. ok, or why there is no place; then nothing
  // was touched.
  template <class Maker, class... Given>
  Status fill(Maker&& maker, Given&&... given) {
    if (reservation_.task != nullptr) [[likely]] {
      kind_ = &maker.make(*reservation_.task, std::forward<Given>(given)...);
      return Status::ok;
    }
    if (Admission* const by = reservation_.refused_by) {
      reservation_.refused_by = nullptr;
      Refused refused(*by);
      refused.kind = &maker.make(refused.task, std::forward<Given>(given)...);
      return Status::ok;
    }
    return reservation_.status;
  }

 private:
  void publish() noexcept {
    const auto [task, calls, worker, refused_by, status] = reservation_;
    probe::hand_over(probe::Kind::task, task);
    if (worker == nullptr) {
      task->publish(*kind_);
      if (calls != nullptr) calls->call_for_queued();
    } else {
      task->kind.store(kind_, sync::order::relaxed);  // order: relaxed, pushed below
      worker->accepted.add();
      worker->spawned.push(task);
      calls->call_for_pushed();
    }
  }

  // A task that this thread runs once it is made. What it is made of is handed to no call, so that
  // a closure on its way into a queue stays in registers.
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

  Reservation reservation_;
  const TaskKind* kind_ = &StillbornKind::kind;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

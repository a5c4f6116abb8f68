// SPDX-License-Identifier: MIT
//
// A place for one task, got from a pool's Admission: the task is made in it and published. Not for
// users.
//
//   ClosureMaker<F> maker;                        // memory for a large closure, before the place
//   TaskPlace place = admission.reserve(worker);  // accepted from here on, or refused
//   if (!place) return place.status();            // refused: the function is unmoved
//   place.fill(maker, function).publish();
//
// From the reservation on the task counts as accepted. So whatever happens something is published:
// if making the closure throws, a stillborn task, which does nothing and counts as cancelled.
//
// Concurrency: its thread's. Order: what came before publish() happens before the task.
// Blocks, allocates: never. Exceptions: fill() throws what making the closure does.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/work_calls.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

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

  // Where the closure threw: publishes a stillborn task. Inlined, as publish() is, and given each
  // part by itself: one call that takes the reservation would keep it, and so each hand-over, in
  // memory.
  [[gnu::always_inline]] ~TaskPlace() {
    const auto [task, calls, worker, refused_by, status] = reservation_;
    if (task != nullptr || refused_by != nullptr) [[unlikely]]
      publish_stillborn(task, calls, worker, refused_by);
  }
  TaskPlace(const TaskPlace&) = delete;
  TaskPlace& operator=(const TaskPlace&) = delete;

  // Whether the task is accepted.
  explicit operator bool() const noexcept {
    return reservation_.task != nullptr || reservation_.refused_by != nullptr;
  }
  Status status() const noexcept { return reservation_.status; }

  // Makes the task, by maker.make(task, given...), once. Not in a place that was refused. A task
  // that a full pool has this thread run is run and counted here, and nothing is left to publish.
  template <class Maker, class... Given>
  TaskPlace& fill(Maker&& maker, Given&&... given) {
    if (reservation_.task != nullptr) [[likely]] {
      sync::taken(sync::end_of(reservation_.task));
      kind_ = &maker.make(*reservation_.task, std::forward<Given>(given)...);
    } else {
      Refused refused(*std::exchange(reservation_.refused_by, nullptr));
      refused.kind = &maker.make(refused.task, std::forward<Given>(given)...);
    }
    return *this;
  }

  // The task goes its way. From here on it may be over at any moment.
  [[gnu::always_inline]] void publish() noexcept {
    const auto [task, calls, worker, refused_by, status] = reservation_;
    if (task == nullptr) return;
    reservation_.task = nullptr;
    probe::hand_over(probe::Kind::task, task);
    if (worker == nullptr) {
      task->publish(*kind_);
      if (calls != nullptr) calls->call_for_queued();
    } else {
      task->kind.store(kind_, sync::order::relaxed);  // order: relaxed, pushed below
      worker->accepted.add();
      worker->spawned.push(task);
      sync::given(worker);
      calls->call_for_pushed();
    }
  }

 private:
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
  [[gnu::cold]] static void publish_stillborn(Task* task, WorkCalls* calls, Worker* worker,
                                              Admission* refused_by) noexcept;

  Reservation reservation_;
  const TaskKind* kind_ = &StillbornKind::kind;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

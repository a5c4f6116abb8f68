// SPDX-License-Identifier: MIT
//
// What happens at the door of a full pool, and ways in beside the usual one.
#include <handoff/core/internal/inside.hpp>
#include <handoff/pool/detail/admission.hpp>
#include <handoff/pool/thread_pool_options.hpp>

#include "engine_parts.hpp"
#include "side_queues.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void TaskPlace::run_refused(Admission& by, Task& task) noexcept {
  const Inside inside;
  EngineParts& parts = by.parts_;
  parts.runner.with_stack(
      [&]() noexcept { parts.completion.count_unqueued(parts.runner.run_uncounted(task)); });
}

void TaskPlace::publish_stillborn(Task* task, WorkCalls* calls, Worker* worker,
                                  Admission* refused_by) noexcept {
  if (refused_by != nullptr) {
    // equivalent(delete): nobody leaves such a place unfilled
    return refused_by->parts_.completion.count_unqueued(Outcome::cancelled);
  }
  TaskPlace place(Reservation{.task = task, .calls = calls, .worker = worker});
  place.publish();
}

Admission::Admission(EngineParts& parts) noexcept
    : parts_(parts),
      unqueued_(parts.unqueued),
      calls_(parts.threads),
      source_(parts.backlog.source()),
      keeps_local_(source_.keeps_local()),
      bounded_(parts.room.is_bounded()),
      on_full_(parts.options.on_full) {}

Admission::Answer Admission::ask(Worker* here, Priority priority, OnFull on_full) {
  if (!bounded_) return {.task = task_of(priority)};
  while (!parts_.room.take()) {
    if (parts_.unqueued.closed()) return {};
    if (on_full == OnFull::reject) return {.why = Status::full};
    // A worker that waited for room might wait for itself.
    if (on_full == OnFull::run_here || here != nullptr) {
      if (Inside::is_deep()) {
        parts_.room.take_in_advance();
        break;
      }
      if (parts_.unqueued.accept()) return {.run_here = true};
      parts_.completion.tell();  // its count was too high for a moment
      return {};
    }
    parts_.room.await([this]() noexcept { return parts_.unqueued.closed(); });
  }
  Answer answer;
  try {
    answer.task = task_of(priority);
  } catch (...) {
    parts_.room.give_back(1);
    throw;
  }
  if (answer.task == nullptr) parts_.room.give_back(1);
  return answer;
}

// Null once closed. Throws std::bad_alloc.
Task* Admission::task_of(Priority priority) {
  if (priority == Priority::normal) return source_.reserve();
  SideQueues* const queues = parts_.backlog.side_queues();
  return queues != nullptr ? queues->reserve(priority) : nullptr;
}

// The worker is woken, or gets a thread, before the ticket is taken; as it is expected, it neither
// sleeps nor ends in between.
Admission::Answer Admission::ask_for(std::size_t index) {
  SideQueues* const queues = parts_.backlog.side_queues();
  if (queues == nullptr) return {};
  struct Expecting {
    SideQueues& queues;
    std::size_t index;
    ~Expecting() { queues.expect_no_more(index); }
  };
  queues->expect(index);
  const Expecting expecting{*queues, index};
  parts_.threads.call(parts_.crew.worker(index));
  return {.task = queues->reserve_for(index)};
}

Task* Admission::take_in_advance(Priority priority) {
  parts_.room.take_in_advance();
  try {
    return task_of(priority);
  } catch (...) {
    parts_.room.give_back(1);
    throw;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail

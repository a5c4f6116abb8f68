// SPDX-License-Identifier: MIT
//
// One queue for all tasks, taken one by one: the modes `fixed` and `cached`. What a task makes by a
// TaskGroup or a loop stays with its worker, which waits for it, and can be stolen by workers that
// find nothing in the queue.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/task_source.hpp>
#include <handoff/pool/detail/worker.hpp>

#include "claimer.hpp"
#include "task_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class OneQueue : public TaskSource {
 public:
  explicit OneQueue(Claimer& claimer) : claimer_(claimer) {}

  Task* reserve() final { return queue_.reserve(); }
  void close() noexcept final { queue_.close(); }
  std::uint64_t accepted() const noexcept final { return queue_.accepted(); }
  bool has_tasks() const noexcept final { return queue_.has_tickets(); }
  bool keeps_local() const noexcept final { return false; }

  Task* next(Worker& worker) noexcept final {
    Task* task = nullptr;
    if (worker.spawned.pop(task) == Status::ok) return task;
    if ((task = claimer_.claim(queue_, worker, 1)) != nullptr) return task;
    return claimer_.steal(worker);
  }

 private:
  Claimer& claimer_;
  TaskQueue queue_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// What makes a mode of a pool: where its tasks wait, and which one a worker takes next. Not for
// users.
//
// Concurrency: anybody; next() by the worker.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Task;
struct Worker;

class TaskSource {
 public:
  virtual ~TaskSource() = default;

  // A place for a task; null once closed. Throws std::bad_alloc.
  virtual Task* reserve() = 0;
  virtual void close() noexcept = 0;
  virtual std::uint64_t accepted() const noexcept = 0;

  // The next task for a worker that runs none; null if it found none.
  virtual Task* next(Worker& worker) noexcept = 0;

  // Whether there is a task, or a place for one that will be there at once.
  virtual bool has_tasks() const noexcept = 0;

  // Whether what a worker's tasks submit goes to the worker's own deque.
  virtual bool keeps_local() const noexcept = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// The tasks in a worker's own deque that a wait may run: those that it waits for, and no others.
//
// They lie above the height at which the task that waits began, and others may lie in between: what
// it has posted, tasks of its other groups. Those are put aside into the worker's second deque, so
// that thieves find them as before, and put back at the end, for the waits that look for them then.
// Without memory for that one is run in the wait.
//
// Concurrency: the worker's thread, one inside the other. Blocks, throws: never. Allocates: room in
// a deque.
// Proof: docs/design/thread_pool.md, "Nested waits end".
#pragma once

#include <cstdint>
#include <new>

#include <handoff/config.hpp>
#include <handoff/core/internal/inside.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/work_calls.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/queue/steal_deque.hpp>

#include "engine_parts.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class OwnTasks {
 public:
  // While this lives, the thread runs nothing but what it waits for.
  explicit OwnTasks(Worker& worker) noexcept : worker_(worker), group_(worker.group) {}
  ~OwnTasks() {
    if (puts_aside_) [[unlikely]]
      put_all_back();
    worker_.group = group_;
  }
  OwnTasks(const OwnTasks&) = delete;
  OwnTasks& operator=(const OwnTasks&) = delete;

  // The latest one of which is_ours(task) is true; null: there is none.
  template <class IsOurs>
  Task* next(IsOurs&& is_ours) noexcept {
    Task* task = nullptr;
    while (worker_.spawned.height() > worker_.base && worker_.spawned.pop(task) == Status::ok) {
      if (is_ours(*task) || !put_aside(*task)) return task;
    }
    return nullptr;
  }

  // Whether tasks lie here that only thieves may run.
  bool keeps_others() const noexcept { return has_put_aside() || !worker_.spawned.empty(); }

 private:
  bool has_put_aside() const noexcept {
    return puts_aside_ && worker_.claimed.height() > below_ && !worker_.claimed.empty();
  }
  [[gnu::noinline]] bool put_aside(Task& task) noexcept {
    if (!puts_aside_) below_ = worker_.claimed.height();
    puts_aside_ = true;
    return move_to(worker_.claimed, task);
  }

  [[gnu::noinline]] void put_all_back() noexcept {
    for (Task* task = nullptr; has_put_aside();) {
      if (worker_.claimed.pop(task) != Status::ok) continue;
      if (!move_to(worker_.spawned, *task)) worker_.engine.runner().run(worker_, *task);
    }
  }

  // False: no memory. Nobody could see the task in between; a worker is woken for it now.
  bool move_to(StealDeque<Task*>& deque, Task& task) noexcept {
    try {
      deque.reserve();
    } catch (const std::bad_alloc&) {
      return false;
    }
    deque.push(&task);
    worker_.engine.admission().calls().call_for_pushed();
    return true;
  }

  Worker& worker_;
  const Inside::Pause pause_;  // somebody may wait for what was put off
  const GroupTasks* const group_;  // of the task that waits
  bool puts_aside_ = false;
  std::int64_t below_ = 0;  // what lies in `claimed` below this was there before
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// How a task of a pool is run, dropped and counted, on a thread that works for it.
//
// Tasks run inside each other where one waits for the other. When three quarters of the stack are
// in use, what is deeper runs on a further thread, which is this worker meanwhile.
//
// Concurrency: each worker for itself; drop_rest() by anybody. Blocks: as the task does.
// Exceptions: none leaves a task; what it throws goes to its group or to Failures.
#pragma once

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/pool/detail/group_tasks.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/stack.hpp>

#include "../core/internal/failures.hpp"
#include "../probe/internal/probes.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

struct ThreadPoolOptions;

namespace detail {

class TaskRunner {
 public:
  // The options outlive this.
  TaskRunner(const ThreadPoolOptions& options, Failures& failures) noexcept
      : options_(options), failures_(failures), dropping_(kKeep) {}

  // Runs a task, inside another one perhaps.
  void run(Worker& worker, Task& task) noexcept {
    if (worker.depth == 0) {
      run_first(worker, task);
    } else {
      with_stack([&]() noexcept { run_first(worker, task); });
    }
  }
  // ... on a stack that is not short.
  void run_first(Worker& worker, Task& task) noexcept {
    GroupTasks* const group = task.group.read();
    const std::int64_t base = std::exchange(worker.base, worker.spawned.height());
    worker.group = group;
    ++worker.depth;
    HANDOFF_PROBE(task_begin, worker.index, &task);
    if (probe::is_watched()) [[unlikely]]
      tell_begun(task, &task);
    const Outcome outcome = perform(task, group);
    HANDOFF_PROBE(task_end, worker.index, &task, static_cast<int>(outcome));
    probe::end(probe::Kind::task, &task);
    --worker.depth;
    worker.base = base;
    worker.nodes.give(&task);
    worker.count(outcome);
    if (group != nullptr) group->finished(worker, outcome);
  }

  // Calls function() as the worker that the calling thread is: on the stack of a new thread if this
  // one's is short. If there is no thread to be had it goes on where it is.
  template <class F>
  void with_stack(F&& function) noexcept {
    if (!sync::stack_is_short() ||
        !on_new_stack({&function, [](void* f) noexcept {
                         (*static_cast<std::remove_reference_t<F>*>(f))();
                       }})) [[likely]] {
      function();
    }
  }

  // Runs a task that no worker counts, which is its caller's to do.
  Outcome run_uncounted(Task& task) noexcept;

  // To on_error or the next wait(): the exception that is being handled, of a task of that name.
  void tell_failure(const char* name) noexcept;

  // Tasks that begin from here on are dropped, and counted so: cancelled or expired.
  void drop_rest(Outcome why) noexcept {
    // order: relaxed, a task that does not see it yet has begun in time.
    dropping_.store(why == Outcome::cancelled ? kCancel : kExpire, sync::order::relaxed);
  }

 private:
  enum Dropping : std::uint32_t { kKeep, kCancel, kExpire };
  // What with_stack() calls elsewhere.
  struct Rest {
    void* function;
    void (*call)(void* function) noexcept;
  };

  bool on_new_stack(const Rest& rest) noexcept;
  // To the recorder. `what`: null, if it was never handed over.
  [[gnu::cold, gnu::noinline]] static void tell_begun(Task& task, const void* what) noexcept;

  Outcome perform(Task& task, GroupTasks* group) noexcept {
    // order: relaxed, nothing comes with it; a task that slips through has begun in time.
    const std::uint32_t dropping = dropping_.load(sync::order::relaxed);
    if (dropping != kKeep) [[unlikely]]
      return drop(task, group, dropping == kCancel ? Outcome::cancelled : Outcome::expired);
    if (group != nullptr) {
      const Outcome why = group->whether();
      if (why != Outcome::done) [[unlikely]]
        return task.drop(why);
    }
    try {
      return task.run();
    } catch (...) {
      keep_failure(task, group);
      return Outcome::failed;
    }
  }

  static Outcome drop(Task& task, GroupTasks* group, Outcome why) noexcept;
  void keep_failure(Task& task, GroupTasks* group) noexcept;

  const ThreadPoolOptions& options_;
  Failures& failures_;
  sync::atomic<std::uint32_t> dropping_;  // Dropping
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

// SPDX-License-Identifier: MIT
//
// What the threads of a pool do: take a task and run it; where there is none, search, then sleep.
//
// Invariant
//   TP-2  A worker sleeps only if, after it was known to sleep, there was no task it could have
//         taken.
//
// Concurrency: each worker for itself. Blocks: as tasks and hooks do, and asleep.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/sync/clock.hpp>

#include "backlog.hpp"
#include "completion.hpp"
#include "crew.hpp"
#include "task_runner.hpp"
#include "worker_threads.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

struct ThreadPoolOptions;

namespace detail {

class WorkSearch final : public WorkerThreads::Duty {
 public:
  struct Parts {
    Crew& crew;
    WorkerThreads& threads;
    Backlog& backlog;
    TaskRunner& runner;
    Completion& completion;
  };

  // The options outlive this. `cpus`: workers that can run at the same moment.
  WorkSearch(const ThreadPoolOptions& options, std::size_t cpus, const Parts& parts) noexcept
      : options_(options),
        with_cpu_(cpus),
        crew_(parts.crew),
        threads_(parts.threads),
        sleepers_(parts.threads.sleepers()),
        backlog_(parts.backlog),
        runner_(parts.runner),
        completion_(parts.completion) {}

  void serve(Worker& worker, bool called) noexcept override;
  bool has_work() const noexcept override { return backlog_.has_tasks(); }
  bool has_work_for(const Worker& worker) const noexcept override {
    return backlog_.has_tasks_for(worker);
  }

 private:
  void begin_service(const Worker& worker, bool called) noexcept;
  void work(Worker& worker, bool called) noexcept;
  void stand_in(Worker& spare) noexcept;
  Task* next(Worker& worker) noexcept;
  Task* search(Worker& worker) noexcept;
  Task* look(Worker& worker) noexcept;
  void found_work(const Worker& worker) noexcept;
  bool is_more_work(const Worker& worker, std::uint64_t asleep) noexcept;
  bool expects_more(const Worker& worker) const noexcept;
  bool looks_on(const Worker& worker, sync::Deadline& until) const noexcept;
  Sleepers::Slept sleep(Worker& worker) noexcept;

  const ThreadPoolOptions& options_;
  const std::size_t with_cpu_;  // workers that can run at the same moment
  Crew& crew_;
  WorkerThreads& threads_;
  Sleepers& sleepers_;
  Backlog& backlog_;
  TaskRunner& runner_;
  Completion& completion_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

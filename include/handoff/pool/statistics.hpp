// SPDX-License-Identifier: MIT
//
// What a pool has been doing: ThreadPool::statistics().
//
// Each worker counts for itself, with plain stores; reading costs the workers nothing. A snapshot
// is not one moment: each figure is right for itself, and differences of two snapshots are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct WorkerStatistics {
  std::uint64_t run = 0;          // tasks that ended here, in whatever way
  std::uint64_t handed_over = 0;  // by tasks that ran here, to the worker's own deque
  std::uint64_t stolen = 0;       // tasks it took from others
  std::uint64_t sleeps = 0;       // how often it fell asleep for want of work
};

// What a pool has been doing since it was made.
struct PoolStatistics {
  // By index: the pool's own threads first, then guests that help while they wait.
  std::vector<WorkerStatistics> workers;

  std::size_t threads = 0;         // that the pool has now
  std::uint64_t started = 0;       // threads, ever
  std::uint64_t lent = 0;          // how often blocking() asked for a stand-in
  std::uint64_t from_outside = 0;  // tasks that came by the pool's queues
  std::uint64_t run_by_caller = 0; // refused by a full pool, or run by a waiter elsewhere

  // The sum of all workers.
  [[nodiscard]] WorkerStatistics sum() const noexcept {
    WorkerStatistics all;
    for (const WorkerStatistics& worker : workers) {
      all.run += worker.run;
      all.handed_over += worker.handed_over;
      all.stolen += worker.stolen;
      all.sleeps += worker.sleeps;
    }
    return all;
  }
};

}}  // namespace handoff::HANDOFF_ABI

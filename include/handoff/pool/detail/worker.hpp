// SPDX-License-Identifier: MIT
//
// What a thread has while it works for a pool: its tasks, its empty nodes, its counters. Not for
// users.
//
// The pool's own threads have one each, for good. A thread from outside that waits for work in the
// pool takes a slot: it borrows one, is a worker like the others for that time, and its tasks can
// be stolen like theirs.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/class_turns.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/pool/detail/node_cache.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/queue/steal_deque.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

extern template class StealDeque<detail::Task*>;  // src/pool/crew.cpp

namespace detail {

class Engine;
class GroupTasks;

// What a worker looks for, the most urgent first.
enum class TaskClass : std::uint8_t { urgent, high, for_worker, normal, low };
inline constexpr std::size_t kTaskClasses = 5;

// A figure that one thread counts and any thread reads.
class Counter {
 public:
  Counter() noexcept : value_(0) {}

  void add() noexcept {
    // order: release pairs with the acquire in read(): a thread that sees the count sees what was
    // counted. Relaxed for the load of what this thread alone writes.
    value_.store(value_.load(sync::order::relaxed) + 1, sync::order::release);
  }
  std::uint64_t read() const noexcept {
    return value_.load(sync::order::acquire);  // order: acquire pairs with the release in add()
  }

 private:
  sync::atomic<std::uint64_t> value_;
};

struct alignas(sync::destructive_span) Worker final : Workplace {
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t deque_tasks = 4;  // a model has room for few atomics
  static constexpr std::size_t most_guests = 1;
#else
  static constexpr std::size_t deque_tasks = 64;
  static constexpr std::size_t most_guests = 64;  // slots for them
#endif
  // The most tasks that are claimed from a queue at once. They fit into an empty deque, which
  // therefore need not grow.
  static constexpr std::size_t batch_most = deque_tasks / 2;

  Worker(Engine& pool, std::size_t number, TaskStore& store, bool is_guest);
  ~Worker();

  // Which member of a loop it is, the same in each: a thread from outside is the first.
  std::size_t member() const noexcept { return guest ? 0 : index + 1; }

  // For a task that waits here.
  void run_inside(const Call& call) noexcept override;
  bool has_own() const noexcept override { return spawned.height() > base && !spawned.empty(); }
  void begin_blocking() noexcept override;
  void end_blocking() noexcept override;

  Engine& engine;  // the host
  const bool guest;  // in a slot for threads from outside

  StealDeque<Task*> spawned;  // made by tasks that run here
  StealDeque<Task*> claimed;  // taken from the pool's queue in a batch
  NodeCache nodes;

  std::int64_t base = 0;  // height of `spawned` when the task that runs here began
  std::uint32_t tick = 0;  // tasks begun
  std::uint32_t victim = 0;  // the worker to steal from first

  Counter accepted;  // into `spawned`
  Counter done;
  Counter failed;
  Counter cancelled;
  Counter expired;
  Counter stolen;  // from others
  Counter sleeps;

  bool rested = false;  // its last sleep was long
  std::uint64_t finished_when_woken = 0;  // finished() then

  sync::EventCount joined;  // its thread, when it waits for tasks that others run
  Sleepers::Place place;  // its thread, when there is no work

  // Guests use these.
  sync::atomic<bool> taken;
  std::uint32_t sitting = 0;  // how often its thread sat down
  bool spare = false;  // taken by a thread of the pool, in place of one that blocks

  std::uint32_t blocking = 0;  // regions that its thread is in, one inside the other
  bool replaced = false;  // somebody stands in

  const GroupTasks* group = nullptr;  // that waits for the task that runs here; null: none

  // For the threads that may help it; see TP-4 in group_tasks.hpp.
  bool pure = false;  // nothing else came into `spawned` since; false: `part_of` is null
  sync::atomic<const GroupTasks*> part_of;  // the problem of all in `spawned`; null: nobody says

  Task first_node;  // in `nodes` from the beginning: so it can claim also where no memory is left

  ClassTurns<kTaskClasses> turns;  // where there are side queues

  // It is about to run a task of this group that it has taken from another worker.
  void begin_part_of(const GroupTasks& problem) noexcept {
    const bool is_empty = depth == 0 || spawned.empty();  // it looked there before it stole
    // order: relaxed, what is pushed from here on brings it: see GroupTasks::help_thief().
    part_of.store(is_empty ? &problem : nullptr, sync::order::relaxed);
    pure = pure || is_empty;
  }
  // Something else is about to come into `spawned`; or the task has ended.
  void end_part() noexcept {
    if (!pure) return;
    pure = false;
    part_of.store(nullptr, sync::order::relaxed);  // order: relaxed, as above
  }

  void count(Outcome outcome) noexcept {
    switch (outcome) {
      case Outcome::done: return done.add();
      case Outcome::failed: return failed.add();
      case Outcome::cancelled: return cancelled.add();
      case Outcome::expired: return expired.add();
      case Outcome::elsewhere: return;
    }
  }

  std::uint64_t finished() const noexcept {
    return done.read() + failed.read() + cancelled.read() + expired.read();
  }
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

// SPDX-License-Identifier: MIT
//
// All that may hold tasks of a pool: its workers, and the slots for threads from outside that
// wait for work in it and for stand-ins of workers that block.
//
// Concurrency: anybody; sit_down() and stand_up() by the thread that sits.
// Blocks: take_slot(), while another thread makes one. Allocates: the workers, those of slots at
// their first use.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/pool/statistics.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/mutex.hpp>

#include "task_store.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Crew {
 public:
  static constexpr std::size_t slots = Worker::most_guests;

  // `engine`: for its workers to name.
  Crew(Engine& engine, std::size_t width);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::size_t width() const noexcept { return workers_.size(); }
  Worker& worker(std::size_t index) noexcept { return *workers_[index]; }

  // Workers and slots; at() is null for a slot that nobody ever had.
  std::size_t size() const noexcept { return workers_.size() + slots; }
  Worker* at(std::size_t index) const noexcept {
    if (index < workers_.size()) return workers_[index].get();
    // order: acquire pairs with the release in take_slot(): the worker is made.
    return slots_[index - workers_.size()].worker.load(sync::order::acquire);
  }

  // How many of size() may hold tasks now.
  std::size_t in_use() const noexcept {
    // order: relaxed. at() acquires; a thread that knows of a slot reads no smaller number.
    return workers_.size() + slots_made_.load(sync::order::relaxed);
  }

  // A thread from outside works for the pool, until it has stood up as often as it sat down. `here`
  // is what it is in the pool already; null: nothing. Returns null if it cannot, and has to wait
  // idly.
  Worker* sit_down(Worker* here) noexcept;
  // True if the slot is free again.
  bool stand_up(Worker& guest) noexcept;

  // Null if all are taken or the memory is.
  Worker* take_slot() noexcept;
  void leave_slot(Worker& guest) noexcept;

  // For a stand-in, which no group gives up.
  Worker* take_spare() noexcept;
  void end_spare(Worker& guest) noexcept;

  // With `asleep` asleep, the caller counted with them: nobody else can make a task in a deque.
  // Those that come by a queue come by a seq_cst operation.
  bool only_outsiders_hand_over(std::uint64_t asleep) const noexcept {
    // equivalent(bound): only speed: the sleeper takes the way that is right for all
    return asleep >= width() && !somebody_sits();
  }
  bool somebody_sits() const noexcept;

  // Whether a task waits in a deque.
  bool has_tasks() const noexcept;

  // Sums of all.
  std::uint64_t accepted() const noexcept;
  std::uint64_t finished() const noexcept;
  void add_to(Tally& tally) const noexcept;
  void add_to(PoolStatistics& statistics) const;

 private:
  template <class>
  friend struct Books;

  struct Slot {
    sync::atomic<Worker*> worker{nullptr};
  };

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < in_use(); ++i) {
      if (const Worker* const worker = at(i)) visit(*worker);
    }
  }

  Engine& engine_;
  TaskStore store_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::array<Slot, slots> slots_;
  sync::atomic<std::size_t> slots_made_;
  sync::atomic<std::size_t> slots_taken_;
  sync::Mutex making_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

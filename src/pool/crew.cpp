// SPDX-License-Identifier: MIT
//
// Slots that change hands, sums over all threads that work for a pool, and what one of them does
// when its task waits.
#include "crew.hpp"

#include <handoff/pool/detail/engine.hpp>
#include <new>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "engine_parts.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

template class StealDeque<detail::Task*>;

namespace detail {

using sync::order;

Crew::Crew(Engine& engine, std::size_t width) : engine_(engine), slots_made_(0), slots_taken_(0) {
  workers_.reserve(width);  // equivalent(delete): the vector grows by itself
  for (std::size_t i = 0; i < width; ++i) {
    workers_.push_back(std::make_unique<Worker>(engine, i, store_, false));
  }
}

Crew::~Crew() {
  // order: relaxed, all are gone
  for (Slot& slot : slots_) delete slot.worker.load(order::relaxed);
}

Worker* Crew::take_slot() noexcept {
  for (std::size_t i = 0; i < slots; ++i) {
    Worker* guest = at(width() + i);
    if (guest == nullptr) {
      const sync::Lock lock(making_);
      guest = at(width() + i);
      if (guest == nullptr) {
        try {
          const sync::MadeForAll unseen;
          guest = new Worker(engine_, width() + i, store_, true);
        } catch (const std::bad_alloc&) {
          return nullptr;
        }
        // order: release pairs with the acquire in at(): the worker is made.
        // equivalent(swap): a thread that reads the number first finds null in that place and goes
        // on
        slots_[i].worker.store(guest, order::release);
        slots_made_.store(i + 1, order::relaxed);  // order: relaxed, see in_use()
      }
    }
    bool taken = false;
    // order: acquire pairs with the release in leave_slot(); relaxed on failure, the next one then.
    if (guest->taken.compare_exchange_strong(taken, true, order::acquire, order::relaxed)) {
      // order: seq_cst, comes before any task that is made in this slot; see somebody_sits().
      slots_taken_.fetch_add(1, order::seq_cst);
      return guest;
    }
  }
  return nullptr;
}

void Crew::leave_slot(Worker& guest) noexcept {
  // equivalent(swap): the number is too large for a moment, which costs a fence and no more
  slots_taken_.fetch_sub(1, order::relaxed);  // order: relaxed, too late is as good
  // order: release pairs with the acquire in take_slot()
  guest.taken.store(false, order::release);
}

Worker* Crew::take_spare() noexcept {
  Worker* const guest = take_slot();
  if (guest == nullptr) return nullptr;
  sync::tell_taken(&guest->taken);
  // equivalent(swap): both are this thread's own until the slot is listed
  // equivalent(delete): the thread that sat there before left a base that is too low at most, and
  // the deque is empty
  guest->base = guest->spawned.height();
  guest->sitting = 1;  // so that no group gives it up
  guest->spare = true;
  return guest;
}

void Crew::end_spare(Worker& guest) noexcept {
  guest.sitting = 0;
  guest.spare = false;
  sync::tell_given(&guest.taken);
  leave_slot(guest);
}

Worker* Crew::sit_down(Worker* here) noexcept {
  Worker* guest = here;
  if (guest == nullptr) {
    guest = take_slot();
    if (guest == nullptr) return nullptr;
    // equivalent(swap): two members that only the guest's thread uses
    // equivalent(delete): the thread that sat there before left a base that is too low at most, and
    // the deque is empty
    guest->base = guest->spawned.height();
    guest->outer = std::exchange(workplace(), guest);
  }
  ++guest->sitting;
  return guest;
}

bool Crew::stand_up(Worker& guest) noexcept {
  if (--guest.sitting != 0) return false;
  Workplace** link = &workplace();
  while (*link != &guest) link = &(*link)->outer;
  *link = std::exchange(guest.outer, nullptr);
  leave_slot(guest);
  return true;
}

bool Crew::somebody_sits() const noexcept {
  // order: seq_cst, against the fetch_add in take_slot(): a thread that sat down before it looked
  // whether anybody searches is seen by the thread that stopped searching before this look.
  return slots_taken_.load(order::seq_cst) != 0;
}

bool Crew::has_tasks() const noexcept {
  for (std::size_t i = 0; i < in_use(); ++i) {
    const Worker* const worker = at(i);
    if (worker == nullptr) continue;
    if (!worker->spawned.empty() || !worker->claimed.empty()) return true;
  }
  return false;
}

std::uint64_t Crew::accepted() const noexcept {
  std::uint64_t sum = 0;
  for_each([&sum](const Worker& worker) noexcept { sum += worker.accepted.read(); });
  return sum;
}

std::uint64_t Crew::finished() const noexcept {
  std::uint64_t sum = 0;
  for_each([&sum](const Worker& worker) noexcept { sum += worker.finished(); });
  return sum;
}

void Crew::add_to(Tally& tally) const noexcept {
  for_each([&tally](const Worker& worker) noexcept {
    tally.done += worker.done.read();
    tally.failed += worker.failed.read();
    tally.cancelled += worker.cancelled.read();
    tally.expired += worker.expired.read();
  });
}

void Crew::add_to(PoolStatistics& statistics) const {
  statistics.workers.resize(size());
  for_each([&statistics](const Worker& worker) noexcept {
    statistics.workers[worker.index] = {.run = worker.finished(),
                                        .handed_over = worker.accepted.read(),
                                        .stolen = worker.stolen.read(),
                                        .sleeps = worker.sleeps.read()};
  });
}

// ---- A worker as the place of a task that waits ----------------------------------------------

Worker::Worker(Engine& pool, std::size_t number, TaskStore& store, bool is_guest)
    : Workplace(pool, number),
      engine(pool),
      guest(is_guest),
      spawned(deque_tasks),
      claimed(deque_tasks),
      nodes(store),
      place(number),
      taken(false),
      part_of(nullptr) {
  nodes.give(&first_node);
}

Worker::~Worker() = default;

void Worker::run_inside(const Call& call) noexcept {
  engine.runner().with_stack([this, &call]() noexcept {
    const std::int64_t below = std::exchange(base, spawned.height());
    call.function(call.argument);
    base = below;
  });
}

// Not of a guest, whose thread is not the pool's to replace.
void Worker::begin_blocking() noexcept {
  if ((guest && !spare) || blocking++ != 0) return;
  replaced = engine.lend();
}
void Worker::end_blocking() noexcept {
  if ((guest && !spare) || --blocking != 0) return;
  if (replaced) engine.take_back();
}

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

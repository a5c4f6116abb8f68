// SPDX-License-Identifier: MIT
//
// Seats that change hands, and sums over all threads that work for a pool.
#include "crew.hpp"

#include <new>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

Crew::Crew(Engine& engine, std::size_t width) : engine_(engine), seats_made_(0), seats_taken_(0) {
  workers_.reserve(width);  // equivalent(delete): the vector grows by itself
  for (std::size_t i = 0; i < width; ++i) {
    workers_.push_back(std::make_unique<Worker>(engine, i, store_, false));
  }
}

Crew::~Crew() {
  // order: relaxed, all are gone
  for (Seat& seat : seats_) delete seat.worker.load(order::relaxed);
}

Worker* Crew::take_seat() noexcept {
  for (std::size_t i = 0; i < seats; ++i) {
    Worker* seat = at(width() + i);
    if (seat == nullptr) {
      const sync::Lock lock(making_);
      seat = at(width() + i);
      if (seat == nullptr) {
        try {
          seat = new Worker(engine_, width() + i, store_, true);
        } catch (const std::bad_alloc&) {
          return nullptr;
        }
        // order: release pairs with the acquire in at(): the seat is made.
        // equivalent(swap): a thread that reads the number first finds null in that place and goes
        // on
        seats_[i].worker.store(seat, order::release);
        seats_made_.store(i + 1, order::relaxed);  // order: relaxed, see in_use()
      }
    }
    bool taken = false;
    // order: acquire pairs with the release in leave_seat(); relaxed on failure, the next one then.
    if (seat->taken.compare_exchange_strong(taken, true, order::acquire, order::relaxed)) {
      // order: seq_cst, comes before any task that is made on this seat; see somebody_sits().
      seats_taken_.fetch_add(1, order::seq_cst);
      return seat;
    }
  }
  return nullptr;
}

void Crew::leave_seat(Worker& seat) noexcept {
  // equivalent(swap): the number is too large for a moment, which costs a fence and no more
  seats_taken_.fetch_sub(1, order::relaxed);  // order: relaxed, too late is as good
  // order: release pairs with the acquire in take_seat()
  seat.taken.store(false, order::release);
}

Worker* Crew::take_spare() noexcept {
  Worker* const seat = take_seat();
  if (seat == nullptr) return nullptr;
  // equivalent(swap): both are this thread's own until the seat is listed
  // equivalent(delete): the thread that sat there before left a base that is too low at most, and
  // the deque is empty
  seat->base = seat->spawned.height();
  seat->sitting = 1;  // so that no group gives it up
  seat->spare = true;
  return seat;
}

void Crew::end_spare(Worker& seat) noexcept {
  seat.sitting = 0;
  seat.spare = false;
  leave_seat(seat);
}

Worker* Crew::sit_down(Worker* here) noexcept {
  Worker* seat = here;
  if (seat == nullptr) {
    seat = take_seat();
    if (seat == nullptr) return nullptr;
    // equivalent(swap): two members of a seat that only its thread uses
    // equivalent(delete): the thread that sat there before left a base that is too low at most, and
    // the deque is empty
    seat->base = seat->spawned.height();
    seat->outer = std::exchange(workplace(), seat);
  }
  ++seat->sitting;
  return seat;
}

bool Crew::stand_up(Worker& seat) noexcept {
  if (--seat.sitting != 0) return false;
  Workplace** link = &workplace();
  while (*link != &seat) link = &(*link)->outer;
  *link = std::exchange(seat.outer, nullptr);
  leave_seat(seat);
  return true;
}

bool Crew::somebody_sits() const noexcept {
  // order: seq_cst, against the fetch_add in take_seat(): a thread that sat down before it looked
  // whether anybody searches is seen by the thread that stopped searching before this look.
  return seats_taken_.load(order::seq_cst) != 0;
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

}}}  // namespace handoff::HANDOFF_ABI::detail

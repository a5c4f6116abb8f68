// SPDX-License-Identifier: MIT
//
// Where many threads sleep until one of them, or another thread, wakes all of them by one call.
//
//   {
//     const Lock lock(mutex);          // the waiter: nothing to do yet
//     seen = gate.seen();
//   }
//   gate.wait(seen);                   // until the gate has changed since; look again then
//
//   {
//     const Lock lock(mutex);          // the thread that makes it true
//     gate.change();
//   }
//   gate.wake_all();
//
// For: crowds. An EventCount wakes one thread at a time, each by a call of its own, which takes
//   twice as long for 64 of them. Not for: waits that end early; one waiter or a few.
// Concurrency: thread-safe. seen() and change() under a mutex of the caller's, the same for both.
//   The gate outlives its waiters and every wake_*().
// Order: no wake-up is lost: the kernel compares the word with what was seen before it lets a
//   thread sleep, and change() comes before wake_*(). The gate orders nothing else; that is the
//   mutex's work. wake_one() wakes the thread that has slept longest.
// Blocks: wait(). wake_*() is a system call each. Allocates, throws: never.
#pragma once

#include <cstdint>
#include <limits>

#include <handoff/config.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/park.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

class Gate {
 public:
  Gate() noexcept : changes_(0) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  [[nodiscard]] std::uint32_t seen() const noexcept {
    return changes_.load(order::relaxed);  // order: relaxed, under the caller's mutex
  }
  void change() noexcept {
    changes_.fetch_add(1, order::relaxed);  // order: relaxed, under the caller's mutex
  }

  // Returns at once if it has changed since.
  void wait(std::uint32_t seen) const noexcept {
    // order: relaxed, a look only; the caller looks again under its mutex.
    if (changes_.load(order::relaxed) != seen) return;
    const probe::Slice asleep(probe::Kind::sleep, "wait");
    do {
      (void)park(changes_, seen, no_deadline, ParkScope::process);
    } while (changes_.load(order::relaxed) == seen);  // order: as above
  }

  void wake_one() noexcept { (void)unpark(changes_, 1, ParkScope::process); }
  void wake_all() noexcept {
    (void)unpark(changes_, std::numeric_limits<std::uint32_t>::max(), ParkScope::process);
  }

 private:
  atomic<std::uint32_t> changes_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync

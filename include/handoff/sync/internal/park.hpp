// SPDX-License-Identifier: MIT
//
// Sleeping until a 32-bit word changes, within a process or across processes: the futex.
//
// For: EventCount and Mutex, and later what waits in memory shared with other processes. Not for:
// anything above sync/, which waits by EventCount.
// Concurrency: any thread. park() may return for no reason (a signal, a wake-up meant for an
// earlier user of the same address): the caller looks at its condition again, always.
// Blocks: park(). Allocates, throws: never.
// Source: U. Drepper, "Futexes Are Tricky"; futex(2).
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

enum class ParkScope : std::uint8_t {
  process,  // both ends are threads of this process: cheaper
  shared,   // the word lies in memory that several processes map
};

// Sleeps while `word` holds `expected`. False only when the deadline passed.
bool park(const atomic<std::uint32_t>& word, std::uint32_t expected, Deadline deadline,
          ParkScope scope) noexcept;

// Wakes at most `most` threads that sleep on `word`; returns how many. The word may have been
// freed by then: the kernel takes its address as a name and does not read it.
std::uint32_t unpark(const atomic<std::uint32_t>& word, std::uint32_t most,
                     ParkScope scope) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync

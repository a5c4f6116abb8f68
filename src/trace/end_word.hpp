// SPDX-License-Identifier: MIT
//
// How the thread that writes a trace is told to end. A word that it sleeps on, and nothing else: an
// EventCount would pass a probe and have an object of the thread's, whose first use waits for the
// loader, which waits for this thread where the library is unloaded.
//
// Concurrency: one thread sleeps, another one tells, once. Blocks: sleep(). Allocates, throws:
// never.
#pragma once

#include <chrono>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/park.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

class EndWord {
 public:
  // What this thread has done before is seen by the one that has seen it.
  void tell() noexcept {
    // order: release pairs with the acquire in is_told(): all that this thread has noted.
    told_.store(1, sync::order::release);
    (void)sync::unpark(told_, 1, sync::ParkScope::process);
  }

  bool is_told() const noexcept {
    return told_.load(sync::order::acquire) != 0;  // order: acquire, see tell()
  }

  // Until it is told, for as long at most. May return early.
  template <class Rep, class Period>
  void sleep(std::chrono::duration<Rep, Period> most) noexcept {
    (void)sync::park(told_, 0, sync::deadline_after(most), sync::ParkScope::process);
  }

 private:
  sync::atomic<std::uint32_t> told_{0};
};

}}}  // namespace handoff::HANDOFF_ABI::trace

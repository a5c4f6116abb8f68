// SPDX-License-Identifier: MIT
//
// Fences, for the few places where an order on a variable cannot say it.
//
// Prefer an order on the variable: ThreadSanitizer does not see fences. The asymmetric pair is
// for a Dekker-style handshake ("I wrote A and read B, you wrote B and read A") in which one side
// is hot and the other is rare: the hot side pays a compiler barrier, the rare side makes the
// kernel run a full barrier on every CPU that runs a thread of this process.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>
#else

#include <atomic>

#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

inline void fence(order o) noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"  // known and stated above: no data hangs on a fence alone
#endif
  std::atomic_thread_fence(o);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

namespace detail {
// Whether the kernel has membarrier(2); asked once, before main.
extern const bool membarrier_works;
}  // namespace detail

// One light fence and one heavy fence order like two fence(order::seq_cst): at least one of two
// threads that each wrote, fenced and read sees what the other wrote. Two light ones order
// nothing. Threads of one process only.
inline void asymmetric_fence_light() noexcept {
  if (detail::membarrier_works) [[likely]] {
    // order: compiler only; the processor's part is done by the partner's membarrier.
    std::atomic_signal_fence(order::seq_cst);
  } else {
    fence(order::seq_cst);  // order: partner is asymmetric_fence_heavy()
  }
}

// Whether the light half costs nothing here. If not, an atomic operation is no dearer than the
// handshake that would save it.
inline bool light_fence_is_free() noexcept { return detail::membarrier_works; }

// Costs about a microsecond and an interrupt to each CPU that runs a thread of this process.
void asymmetric_fence_heavy() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif

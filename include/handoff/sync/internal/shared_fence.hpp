// SPDX-License-Identifier: MIT
//
// What waits between processes need: whether to spin, and the asymmetric fence: as
// asymmetric_fence_light() and _heavy() in fence.hpp, for threads of different processes that share
// memory.
//
// The light side needs that its process has registered with the kernel, which happens when the
// library is loaded; where that fails, its half is a full fence, and the heavy half need not be
// more. The heavy side needs a system call that may be forbidden to it: then it says so, and must
// not rely on what it reads.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/backoff.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

inline Spin shared_spin_policy() noexcept { return Spin::never; }
inline void shared_fence_light() noexcept { asymmetric_fence_light(); }
inline bool shared_fence_heavy(Where at = Where::current()) noexcept {
  asymmetric_fence_heavy(at);
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::sync

#else

#include <atomic>

#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// spin_policy() of a wait for another process: it may run where this one may not, so the CPUs of
// the machine count, and the quota. The first call reads files and allocates.
Spin shared_spin_policy() noexcept;

namespace detail {
// Whether the kernel has registered this process; asked once, before main. A child of fork()
// inherits it.
extern const bool shared_membarrier_works;
}  // namespace detail

inline void shared_fence_light() noexcept {
  if (detail::shared_membarrier_works) [[likely]] {
    // order: compiler only; the processor's part is done by the partner's membarrier.
    std::atomic_signal_fence(order::seq_cst);
  } else {
    fence(order::seq_cst);  // order: partner is shared_fence_heavy()
  }
}

// Some microseconds, and an interrupt to each CPU that runs a thread of a registered process.
// False: the kernel does not do it for this process, and no light half is ordered.
[[nodiscard]] bool shared_fence_heavy() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif

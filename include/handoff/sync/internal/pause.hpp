// SPDX-License-Identifier: MIT
//
// The two ways to wait without sleeping. Both are hints; Backoff (backoff.hpp) says how often.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>
#else

#include <sched.h>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Tells the core that this is a spin loop: saves power, frees the sibling hyper-thread.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `isb` holds the core for some tens of cycles, as `pause` does; `yield` is a no-op on most.
  asm volatile("isb" ::: "memory");
#elif defined(__arm__)
  asm volatile("yield" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// Lets another runnable thread have this CPU.
inline void yield() noexcept { ::sched_yield(); }

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif

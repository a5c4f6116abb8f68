// SPDX-License-Identifier: MIT
//
// Whether this process has only one thread, which can then write plainly what threads have to
// change by atomic operations.
//
//   if (single_threaded()) { count.store(count.load(relaxed) + 1, relaxed); } else { ... }
//
// For: operations of a few nanoseconds that programs of one thread use too. Not for: memory that
// processes share; what a signal handler changes.
// Concurrency: any thread. True only while no other thread can run: the start of another thread
// orders all that came before. Threads that were not made by the C library are not known to it.
// Source: std::shared_ptr of libstdc++ and the mutex of glibc do the same.
#pragma once

#include <handoff/config.hpp>

#if !defined(HANDOFF_EXPLORE) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HANDOFF_SINGLE_THREADED __libc_single_threaded != 0
#else
#define HANDOFF_SINGLE_THREADED false
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

[[nodiscard]] inline bool single_threaded() noexcept { return HANDOFF_SINGLE_THREADED; }

}}}  // namespace handoff::HANDOFF_ABI::sync

#undef HANDOFF_SINGLE_THREADED

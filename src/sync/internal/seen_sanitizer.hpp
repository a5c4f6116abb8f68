// SPDX-License-Identifier: MIT
//
// ThreadSanitizer's calls, for a library that is not instrumented: they are there if the program
// that links it is. Where nobody is to be told (sanitizer.hpp) there is no sanitizer to be seen.
//
// Only behind has_sanitizer(), on paths that are cold without it.
// Concurrency: any thread. Blocks, throws: never.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#if !defined(HANDOFF_EXPLORE) && !defined(HANDOFF_INSTRUMENTED) && \
    !defined(HANDOFF_SANITIZES_THREADS)
extern "C" [[gnu::weak]] void __tsan_acquire(void* address);  // NOLINT
extern "C" [[gnu::weak]] void __tsan_release(void* address);  // NOLINT
#define HANDOFF_MAY_SEE_SANITIZER 1
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

#if defined(HANDOFF_MAY_SEE_SANITIZER)
inline bool has_sanitizer() noexcept { return __tsan_acquire != nullptr; }
inline void tell_given(const void* what) noexcept { __tsan_release(const_cast<void*>(what)); }
inline void tell_taken(const void* what) noexcept { __tsan_acquire(const_cast<void*>(what)); }
#else
constexpr bool has_sanitizer() noexcept { return false; }
inline void tell_given(const void* /*what*/) noexcept {}
inline void tell_taken(const void* /*what*/) noexcept {}
#endif

}}}  // namespace handoff::HANDOFF_ABI::sync

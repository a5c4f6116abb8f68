// SPDX-License-Identifier: MIT
//
// Marks for AddressSanitizer: memory that is there, but that nobody may touch just now.
//
// For: memory that is used again and again without being freed. In a build without that sanitizer,
// and in an exploring one, whose model knows better, the marks cost nothing and do nothing.
// Concurrency: as a write of the marked bytes. Blocks, allocates, throws: never.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define HANDOFF_SANITIZES_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HANDOFF_SANITIZES_ADDRESSES 1
#endif
#endif
#if defined(HANDOFF_EXPLORE)
#undef HANDOFF_SANITIZES_ADDRESSES
#endif

#if defined(HANDOFF_SANITIZES_ADDRESSES)
// The sanitizer's own calls, as its interface declares them.
extern "C" void __asan_poison_memory_region(const volatile void* memory,   // NOLINT
                                            std::size_t bytes);            // NOLINT
extern "C" void __asan_unpoison_memory_region(const volatile void* memory, // NOLINT
                                              std::size_t bytes);          // NOLINT
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Whether the marks below are looked at: then what touches poisoned memory ends the program.
#if defined(HANDOFF_SANITIZES_ADDRESSES)
inline constexpr bool poison_is_seen = true;
inline void poison(const void* memory, std::size_t bytes) noexcept {
  __asan_poison_memory_region(memory, bytes);
}
inline void unpoison(const void* memory, std::size_t bytes) noexcept {
  __asan_unpoison_memory_region(memory, bytes);
}
#else
inline constexpr bool poison_is_seen = false;
inline void poison(const void* /*memory*/, std::size_t /*bytes*/) noexcept {}
inline void unpoison(const void* /*memory*/, std::size_t /*bytes*/) noexcept {}
#endif

}}}  // namespace handoff::HANDOFF_ABI::sync

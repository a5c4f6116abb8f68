// SPDX-License-Identifier: MIT
//
// Asks for a cache line before it is needed, where the processor cannot guess it: it looks ahead
// within a page, and less far than memory is away.
//
// Both are hints: an address that is not there does no harm.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Not by the builtin where it can be helped: g++ 12 takes a function that does nothing but prefetch
// for one without effects, and leaves out the calls of those that it has not put in their places.
inline void prefetch_to_read(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address)));
#elif defined(__aarch64__)
  asm volatile("prfm pldl1keep, %0" : : "Q"(*static_cast<const char*>(address)));
#elif defined(__GNUC__)
  __builtin_prefetch(address, 0);
#else
  (void)address;
#endif
}

// Takes the line from the CPU that has it. For what nobody else is about to touch.
inline void prefetch_to_write(const void* address) noexcept {
#if defined(__x86_64__)
  // Compilers make the builtin a prefetch to read for processors of before 2014, which do nothing
  // for this one.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#elif defined(__GNUC__)
  __builtin_prefetch(address, 1);
#else
  (void)address;
#endif
}

}}}  // namespace handoff::HANDOFF_ABI::sync

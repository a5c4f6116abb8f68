// SPDX-License-Identifier: MIT
//
// Memory for things that threads share. Apart from operator new only in an exploring build, which
// finds leaks, double frees and uses after the free.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>
#else

#include <cstddef>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// What operator new aligns to anyhow costs a little less through its plain form.
inline constexpr std::size_t usual_alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

// `alignment`: a power of two, in bytes. Throws std::bad_alloc.
[[nodiscard]] inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment <= usual_alignment) return ::operator new(bytes);
  return ::operator new(bytes, std::align_val_t{alignment});
}

// Null where allocate() would throw.
[[nodiscard]] inline void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (alignment <= usual_alignment) return ::operator new(bytes, std::nothrow);
  return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
}

inline void deallocate(void* memory, [[maybe_unused]] std::size_t bytes,
                       std::size_t alignment) noexcept {
#if defined(__cpp_sized_deallocation)
  if (alignment <= usual_alignment) return ::operator delete(memory, bytes);
  ::operator delete(memory, bytes, std::align_val_t{alignment});
#else  // clang before 19
  if (alignment <= usual_alignment) return ::operator delete(memory);
  ::operator delete(memory, std::align_val_t{alignment});
#endif
}

}}}  // namespace handoff::HANDOFF_ABI::sync

#endif

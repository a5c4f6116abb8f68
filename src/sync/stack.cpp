// SPDX-License-Identifier: MIT
//
// Where a thread's stack ends, asked once a thread.
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <handoff/sync/internal/stack.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace {

#if defined(__has_feature)
#define HANDOFF_STACK_HAS_FEATURE(name) __has_feature(name)
#else
#define HANDOFF_STACK_HAS_FEATURE(name) 0
#endif

// Which part is left. ThreadSanitizer has room for 65,536 calls of a thread, and overwrites other
// memory of its own beyond that: in half of eight megabytes there is room for as many frames of 64
// bytes.
#if defined(__SANITIZE_THREAD__) || HANDOFF_STACK_HAS_FEATURE(thread_sanitizer)
constexpr std::uintptr_t kLeft = 2;
#else
constexpr std::uintptr_t kLeft = 4;
#endif

// The address below which that part is left; 0 if that is not known.
std::uintptr_t find_floor() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const int error = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return error == 0 ? reinterpret_cast<std::uintptr_t>(lowest) + size / kLeft : 0;
}

}  // namespace

// Stacks grow towards lower addresses on every platform there is a build for.
bool stack_is_short() noexcept {
  thread_local const std::uintptr_t floor = find_floor();
  // equivalent(bound): one byte more or less of a quarter of a stack
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < floor;
}

}}}  // namespace handoff::HANDOFF_ABI::sync

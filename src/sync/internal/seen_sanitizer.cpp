// SPDX-License-Identifier: MIT
#include "seen_sanitizer.hpp"

#if defined(HANDOFF_MAY_SEE_SANITIZER)
extern "C" [[gnu::weak]] void __tsan_ignore_thread_begin();  // NOLINT
extern "C" [[gnu::weak]] void __tsan_ignore_thread_end();  // NOLINT

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

void tell_given(const void* what) noexcept {
  if (__tsan_release != nullptr) __tsan_release(const_cast<void*>(what));
}

void tell_taken(const void* what) noexcept {
  if (__tsan_acquire != nullptr) __tsan_acquire(const_cast<void*>(what));
}

void ignore_from_here() noexcept {
  if (__tsan_ignore_thread_begin != nullptr) __tsan_ignore_thread_begin();
}

void ignore_to_here() noexcept {
  if (__tsan_ignore_thread_end != nullptr) __tsan_ignore_thread_end();
}

}}}  // namespace handoff::HANDOFF_ABI::sync
#endif

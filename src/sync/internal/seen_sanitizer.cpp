// SPDX-License-Identifier: MIT
#include "seen_sanitizer.hpp"

#if defined(HANDOFF_MAY_SEE_SANITIZER)
extern "C" [[gnu::weak]] void __tsan_ignore_thread_begin();  // NOLINT
extern "C" [[gnu::weak]] void __tsan_ignore_thread_end();  // NOLINT

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

void ignore_from_here() noexcept {
  if (__tsan_ignore_thread_begin != nullptr) __tsan_ignore_thread_begin();
}

void ignore_to_here() noexcept {
  if (__tsan_ignore_thread_end != nullptr) __tsan_ignore_thread_end();
}

}}}  // namespace handoff::HANDOFF_ABI::sync
#endif

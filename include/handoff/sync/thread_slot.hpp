// SPDX-License-Identifier: MIT
//
// One value per thread, made at its first use there and destroyed when the thread ends.
//
// For: who am I in this team, a per-thread cache. Not for: data that another thread must find.
// `Tag` is any type and tells one slot from another. An exploring build keeps a value per model
// thread, which the language's own keyword could not.
// Concurrency: each thread sees its own value only.
#pragma once

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <handoff/sync/explore/names.hpp>
#else

namespace handoff::inline HANDOFF_ABI::sync {

template <class T, class Tag>
struct thread_slot {
  static T& get() noexcept {
    thread_local T value{};
    return value;
  }
};

}  // namespace handoff::inline HANDOFF_ABI::sync

#endif

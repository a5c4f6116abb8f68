// SPDX-License-Identifier: MIT
//
// One value per thread, made at its first use there; it has no destructor (thread_object.hpp).
//
// For: a thread's index in a team, a per-thread cache. Not for: data that another thread must find.
// `Tag` is any type and tells one slot from another. It is local to a source file: otherwise the
// compiler makes a symbol that all shared objects of the process agree on, and one that has it is
// never unloaded (docs/adr/0013). What headers use is a slot with a place of its own:
// HANDOFF_THREAD_SLOT below. An exploring build keeps a value per model thread, which the
// language's own keyword could not.
// Concurrency: each thread sees its own value only.
#pragma once

#include <type_traits>

#include <handoff/config.hpp>

#if defined(HANDOFF_EXPLORE)
#include <explore/engine/names.hpp>

#define HANDOFF_THREAD_SLOT(T, Tag) static_assert(true)
#define HANDOFF_THREAD_SLOT_PLACE(T, Tag) static_assert(true)

#else

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

template <class T, class Tag>
struct thread_slot {
  static_assert(std::is_trivially_destructible_v<T>);
  static T& get() noexcept {
    thread_local T value{};
    return value;
  }
};

}}}  // namespace handoff::HANDOFF_ABI::sync

// In a header, in namespace sync: the slot has one place, zero at first; and in a source file.
#define HANDOFF_THREAD_SLOT(T, Tag)            \
  template <>                                  \
  struct thread_slot<T, Tag> {                 \
    static T& get() noexcept { return value; } \
    static constinit thread_local T value;     \
  }
#define HANDOFF_THREAD_SLOT_PLACE(T, Tag) \
  constinit thread_local T thread_slot<T, Tag>::value {}

#endif

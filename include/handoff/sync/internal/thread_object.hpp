// SPDX-License-Identifier: MIT
//
// One object per thread, made at its first use there and destroyed when the thread ends.
//
// For: what must be told that its thread ends. Not for: plain values (thread_slot.hpp).
// `Tag` is a type that is local to a source file, as that of a slot.
// The language's own thread_local keeps a shared object loaded for as long as a thread lives that
// has made one: for ever, where it is the main thread. This one does not: it is told of the end by
// a key that is given back when the shared object is unloaded. Then the objects of threads that
// live are not destroyed; their memory goes with the shared object, so they own nothing else.
// It ends after all thread_locals of its thread; that of the main thread never does.
// Concurrency: each thread sees its own object only. Allocates: what the system needs to remember
// the thread. Throws: nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include <handoff/config.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

#if defined(HANDOFF_EXPLORE)

template <class T, class Tag>
struct thread_object : thread_slot<T, Tag> {};

#else

namespace detail {

// Something to be done when this thread ends; the latest first.
struct ThreadEnd {
  void (*run)() noexcept = nullptr;
  ThreadEnd* next = nullptr;
};
void at_thread_end(ThreadEnd& end) noexcept;

}  // namespace detail

template <class T, class Tag>
class thread_object {
 public:
  static T& get() noexcept {
    Place& here = place();
    T* const object = std::launder(reinterpret_cast<T*>(here.bytes));
    if (here.end.run != nullptr) [[likely]]
      return *object;
    here.end.run = &destroy;
    std::construct_at(object);
    detail::at_thread_end(here.end);
    return *object;
  }

 private:
  struct Place {
    alignas(T) std::byte bytes[sizeof(T)];
    detail::ThreadEnd end;  // run: null while there is no object
  };

  static Place& place() noexcept {
    constinit thread_local Place here{};
    return here;
  }
  static void destroy() noexcept {
    Place& here = place();
    here.end.run = nullptr;
    std::destroy_at(std::launder(reinterpret_cast<T*>(here.bytes)));
  }
};

#endif

}}}  // namespace handoff::HANDOFF_ABI::sync

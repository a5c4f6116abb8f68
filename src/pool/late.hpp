// SPDX-License-Identifier: MIT
//
// An object that is created when it is first asked for.
//
// Thread-safe, but for its destruction. Blocks: while somebody else makes it, under a lock of
// its owner's. Allocates, throws: as making it does.
#pragma once

#include <memory>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/mutex.hpp>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
class Late {
 public:
  Late() noexcept : made_(nullptr) {}
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  // Null: not made.
  T* made() const noexcept {
    return made_.load(sync::order::acquire);  // order: acquire pairs with the store in get()
  }

  // The same, for a thread that looks for what was put into it, as a worker does that is about to
  // sleep: if it does not see the thread that made it, that one sees the worker.
  T* look() const noexcept {
    // order: seq_cst, with the store in get(), against Sleepers::wanted(); as for the tickets in
    // TaskQueue::reserve().
    return made_.load(sync::order::seq_cst);
  }

  // What make() returns, a std::unique_ptr, if it is not there; null if that is.
  template <class Make>
  T* get(sync::Mutex& making, Make&& make) {
    if (T* const made = this->made()) return made;
    const sync::Lock lock(making);
    if (T* const made = this->made()) return made;
    const sync::MadeForAll unseen;
    T* const made = make().release();
    // order: seq_cst, see look(); as a release it pairs with the acquire in made().
    if (made != nullptr) made_.store(made, sync::order::seq_cst);
    return made;
  }

 private:
  sync::atomic<T*> made_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

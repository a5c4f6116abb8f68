// SPDX-License-Identifier: MIT
//
// Handles that remove listeners: one (ListenerHandle), one at the end of a scope (ScopedListener),
// all of an object (ListenerGroup).
//
//   handoff::ScopedListener scoped = list.append(f);   // removed and waited for at its end
//   handoff::ListenerGroup group;                      // a member, the last one of its class
//   group.add(list.append(f));                         // all of them, at its end
//   handoff::ListenerHandle handle = list.append(f);
//   handle.remove();            // new passes do not call it; a pass on another thread still may
//   handle.remove_and_wait();   // afterwards it is not running and will not run
//
// For: the listeners of lists, dispatchers, event queues and message buses. Elsewhere they are
// called connection, scoped connection, and observer, receiver or trackable. No handle keeps the
// list or the function alive; it may outlive both. Not for: objects that listeners of others end,
// on two threads: give them shared owners, and the listener a std::weak_ptr (docs/guide/events.md).
// Concurrency: several threads may use different handles on one listener at once, but one handle
// only like an int; a group too. Listeners may be removed while any thread dispatches.
// Order: a group removes the youngest first, and waits when all are removed.
// Blocks: remove_and_wait(), and the ends of ScopedListener and ListenerGroup, until passes over
// the list that began earlier on other threads are over: hold no lock then that a listener takes.
// In a listener they do not wait for the calling thread, so it may end its own handle; nor for a
// thread that waits for the calling one: of two listeners that remove each other on two threads,
// the second goes on at once, while the first still runs.
// Destroys: the function, at once if no thread is in a pass over its list, else when the last such
// pass ends, on that thread.
// Allocates, and throws std::bad_alloc: only ListenerGroup::add().
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
struct ListenerAccess;
}  // namespace detail

class ListenerHandle {
 public:
  ListenerHandle() noexcept = default;

  // True while the listener is in its list. What came before its removal happens before a false.
  [[nodiscard]] bool attached() const noexcept {
    return listener_.get() != nullptr && listener_.get()->attached();
  }
  // attached().
  explicit operator bool() const noexcept { return attached(); }

  // True for the one call that removed it.
  bool remove() const noexcept {
    return listener_.get() != nullptr && detail::ListenerList::remove(*listener_.get());
  }

  // ... and returns when the listener is not running on another thread; or at once, if that thread
  // waits for this one.
  bool remove_and_wait() const noexcept {
    const bool removed = remove();
    if (listener_.get() == nullptr) return removed;
    detail::await_passes(listener_.get()->seen_by());
    sync::taken(sync::end_of(listener_.get()));
    return removed;
  }

  friend bool operator==(const ListenerHandle& a, const ListenerHandle& b) noexcept {
    return a.listener_.get() == b.listener_.get();
  }

 private:
  friend struct detail::ListenerAccess;
  explicit ListenerHandle(detail::ListenerRef listener) noexcept : listener_(std::move(listener)) {}

  detail::ListenerRef listener_;
};

// Removes one listener at its own end, as remove_and_wait() does.
class ScopedListener {
 public:
  ScopedListener() noexcept = default;
  ScopedListener(ListenerHandle handle) noexcept  // NOLINT(google-explicit-constructor)
      : handle_(std::move(handle)) {}
  ScopedListener(ScopedListener&& other) noexcept : handle_(other.release()) {}
  ScopedListener& operator=(ScopedListener&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.release();
    }
    return *this;
  }
  ~ScopedListener() { reset(); }

  // The handle that it owns.
  const ListenerHandle& handle() const noexcept { return handle_; }

  // Lets the listener stay. release().remove() removes it and does not wait.
  ListenerHandle release() noexcept { return std::exchange(handle_, {}); }

  // Removes it now, as the destructor does. In a listener it may end what this is a member of.
  void reset() noexcept { release().remove_and_wait(); }

 private:
  ListenerHandle handle_;
};

// Removes many at its own end, the youngest first, and waits for all: as the last member of a
// class, for the listeners that use the object.
class ListenerGroup {
 public:
  ListenerGroup() noexcept = default;
  ListenerGroup(ListenerGroup&&) noexcept = default;
  ListenerGroup& operator=(ListenerGroup&& other) noexcept {
    if (this != &other) {
      clear();
      listeners_ = std::exchange(other.listeners_, {});
    }
    return *this;
  }
  ~ListenerGroup() { clear(); }

  // Throws std::bad_alloc; the listener is removed then.
  const ListenerHandle& add(ListenerHandle handle) {
    ScopedListener scoped(std::move(handle));
    if (listeners_.size() == listeners_.capacity()) make_room();
    return listeners_.emplace_back(scoped.release());
  }

  // Removes all, as the destructor does.
  void clear() noexcept;

  // How many it has. Those that have removed themselves count until it needs their place.
  std::size_t size() const noexcept { return listeners_.size(); }

 private:
  void make_room();

  std::vector<ListenerHandle> listeners_;
};

}}  // namespace handoff::HANDOFF_ABI

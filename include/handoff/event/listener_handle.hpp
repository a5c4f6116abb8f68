// SPDX-License-Identifier: MIT
//
// Handle that removes a listener.
//
//   ListenerHandle handle = list.append(f);
//   handle.remove();            // new passes do not call it; a pass on another thread still may
//   handle.remove_and_wait();   // afterwards it is not running and will not run
//
//   ScopedListener scoped = list.append(f);                   // remove() at its end: a call that
//                                                             //   runs goes on
//   ScopedListener sure(list.append(f), Removal::and_wait);   // remove_and_wait() at its end
//
// For: callback lists, dispatchers and queues alike. A handle keeps neither the list nor the
// function alive; it may outlive both, and then every call returns false.
// Concurrency: several threads may use different handles on one listener at once, but one handle
// only like an int. Listeners may be removed while any thread dispatches.
// Blocks: remove_and_wait(), until passes that began earlier on other threads are over. It
// does not wait for passes of the calling thread. If two threads wait for each other this way, the
// second one reports misuse; its listener is removed all the same.
// Destroys: the function, at once if no thread is in a pass over its list, else when the last such
// pass ends, on that thread.
// Allocates: nothing. Throws: remove_and_wait() only, on misuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/event/internal/listeners.hpp>

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

  // ... and returns when the listener is not running on another thread.
  bool remove_and_wait() const {
    const bool removed = remove();
    if (listener_.get() != nullptr) detail::await_passes(listener_.get()->seen_by());
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

// What the end of a ScopedListener or a ListenerGroup does.
enum class Removal : std::uint8_t {
  now,       // remove()
  and_wait,  // remove_and_wait(): what the listener refers to may go next
};

// Removes one listener at its own end, and waits for no call that runs on another thread, unless it
// is made with Removal::and_wait: take that where what the listener refers to goes next.
class ScopedListener {
 public:
  ScopedListener() noexcept = default;
  ScopedListener(ListenerHandle handle,  // NOLINT(google-explicit-constructor)
                 Removal removal = Removal::now) noexcept
      : handle_(std::move(handle)), removal_(removal) {}
  ScopedListener(ScopedListener&& other) noexcept
      : handle_(std::exchange(other.handle_, {})), removal_(other.removal_) {}
  ScopedListener& operator=(ScopedListener&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, {});
      removal_ = other.removal_;
    }
    return *this;
  }
  ~ScopedListener() { reset(); }

  // The handle that it owns.
  const ListenerHandle& handle() const noexcept { return handle_; }

  // Lets the listener stay.
  ListenerHandle release() noexcept { return std::exchange(handle_, {}); }

  // A circle of waits ends the program here: it cannot be thrown.
  void reset() noexcept {
    const ListenerHandle handle = release();
    if (removal_ == Removal::now) {
      handle.remove();
    } else {
      handle.remove_and_wait();
    }
  }

 private:
  ListenerHandle handle_;
  Removal removal_ = Removal::now;
};

// Removes many at its own end, the youngest first. One thread owns it.
class ListenerGroup {
 public:
  explicit ListenerGroup(Removal removal = Removal::now) noexcept : removal_(removal) {}
  ListenerGroup(ListenerGroup&&) noexcept = default;
  ListenerGroup& operator=(ListenerGroup&& other) noexcept {
    if (this != &other) {
      clear();
      listeners_ = std::move(other.listeners_);
      removal_ = other.removal_;
    }
    return *this;
  }
  ~ListenerGroup() { clear(); }

  // Throws std::bad_alloc; the listener is removed then.
  const ListenerHandle& add(ListenerHandle handle) {
    ScopedListener scoped(std::move(handle), removal_);
    return listeners_.emplace_back(std::move(scoped)).handle();
  }

  // Removes all, as the destructor does.
  void clear() noexcept {
    while (!listeners_.empty()) listeners_.pop_back();
  }

  // How many it has.
  std::size_t size() const noexcept { return listeners_.size(); }

 private:
  std::vector<ScopedListener> listeners_;
  Removal removal_;
};

}}  // namespace handoff::HANDOFF_ABI

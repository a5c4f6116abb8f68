// SPDX-License-Identifier: MIT
//
// eventpp's ScopedRemover: removes what was added through it when it ends.
//
//   eventpp::ScopedRemover<Dispatcher> remover(dispatcher);
//   remover.appendListener(3, [] { ... });      // until the end of `remover`
//
// For: programs written against eventpp. Not for: new ones, see handoff::ListenerGroup.
// Concurrency: any threads add and remove through it; the rest as for any container. The list or
// dispatcher outlives it, or reset() comes first.
// Blocks: for moments on a mutex, never while a listener is called or ends.
// Allocates, throws: adding; a listener that could not be noted is removed again.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <utility>
#include <vector>

#include <handoff/sync/mutex.hpp>

#include <eventpp/internal/target.hpp>

namespace eventpp {

template <class Target>
class ScopedRemover {
  using Access = internal::Target<Target>;
  using Notes = std::vector<typename Access::Note>;

 public:
  using Handle = typename Target::Handle;

  ScopedRemover() noexcept = default;
  explicit ScopedRemover(Target& target) noexcept : target_(&target) {}
  ScopedRemover(ScopedRemover&& other) noexcept { swap(other); }
  ScopedRemover& operator=(ScopedRemover&& other) noexcept {
    if (this != &other) {
      reset();
      swap(other);
    }
    return *this;
  }
  ~ScopedRemover() { reset(); }

  void swap(ScopedRemover& other) noexcept {
    std::swap(target_, other.target_);
    added_.swap(other.added_);
  }
  friend void swap(ScopedRemover& a, ScopedRemover& b) noexcept { a.swap(b); }

  // Removes all, the youngest first.
  void reset() {
    Notes added;
    {
      const handoff::sync::Lock lock(mutex_);
      added.swap(added_);
    }
    for (; !added.empty(); added.pop_back()) added.back().remove_from(*target_);
  }

  // Removes all from the old one first.
  void setDispatcher(Target& target) { set(target); }
  void setCallbackList(Target& target) { set(target); }

  // As their namesakes of the target: appendListener(event, f) of a dispatcher, append(f) of a
  // list.
  template <class... A>
  Handle appendListener(A&&... a) {
    return note(target_->appendListener(a...), a...);
  }
  template <class... A>
  Handle prependListener(A&&... a) {
    return note(target_->prependListener(a...), a...);
  }
  template <class... A>
  Handle insertListener(A&&... a) {
    return note(target_->insertListener(a...), a...);
  }
  template <class F>
  Handle append(F&& f) {
    return note(target_->append(std::forward<F>(f)));
  }
  template <class F>
  Handle prepend(F&& f) {
    return note(target_->prepend(std::forward<F>(f)));
  }
  template <class F>
  Handle insert(F&& f, const Handle& before) {
    return note(target_->insert(std::forward<F>(f), before));
  }

  // Of those added through this one.
  template <class Event>
  bool removeListener(const Event& event, const Handle& handle) {
    return added_here(handle) && target_->removeListener(event, handle);
  }
  bool remove(const Handle& handle) { return added_here(handle) && target_->remove(handle); }

 private:
  void set(Target& target) {
    reset();
    target_ = &target;
  }

  template <class... A>
  Handle note(Handle handle, const A&... a) {
    struct Guard {  // for a note that cannot be made
      Target& target;
      typename Access::Note note;
      bool made = false;
      ~Guard() {
        if (!made) note.remove_from(target);
      }
    } guard{*target_, Access::note(handle, a...)};
    const handoff::sync::Lock lock(mutex_);
    if (added_.size() == added_.capacity()) {  // and the next time after as many more
      std::erase_if(added_, [](const auto& old) { return !old.handle; });
      added_.reserve(2 * added_.size() + 1);
    }
    added_.push_back(guard.note);
    guard.made = true;
    return handle;
  }
  bool added_here(const Handle& handle) const {
    const handoff::sync::Lock lock(mutex_);
    for (const auto& note : added_) {
      if (handle && note.handle == handle) return true;
    }
    return false;
  }

  Target* target_ = nullptr;
  mutable handoff::sync::Mutex mutex_;
  Notes added_;  // under the mutex
};

}  // namespace eventpp

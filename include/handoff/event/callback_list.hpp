// SPDX-License-Identifier: MIT
//
// A list of functions that are called together.
//
//   handoff::CallbackList<void(const Reading&)> on_reading;
//   handoff::ScopedListener scoped = on_reading.append([](const Reading& r) { ... });
//   on_reading(reading);            // calls them, in order, on this thread
//   scoped.reset();                 // or its end: it is not running and will not run
//
// For: signals and slots, hooks, observers; any number of threads may call while others add and
// remove. Not for: one function (UniqueFunction); events by key (EventDispatcher) or for later
// (EventQueue).
//
// Contract: none of the tiers; nothing is handed over, a pass runs on the caller.
// - Concurrency: thread-safe, also inside a callback. The destructor may run inside a callback of
//   the list and during passes that have begun, but during no other call.
// - Order: higher priorities first, then as appended. What came before an addition happens before
//   the calls of that listener.
// - Passes: a listener added during a pass is not called in that pass, but in passes nested in it;
//   a removed one is not called any more, unless its call has begun. Once the list is destroyed, no
//   further listener is called. (The whole table: docs/guide/events.md.)
// - Cost: a pass takes no lock, allocates nothing and writes two words that belong to its thread
//   (the first pass of a thread registers it). Adding at the end is amortised O(1); elsewhere it
//   copies at most 64 pointers, and one more for every 32 listeners. Removing is amortised O(1).
//   Both take a lock. The first removal after another thread's pass has the kernel order the CPUs,
//   which takes microseconds.
// - Blocks: calls never; adding and removing for a few instructions of other threads;
//   remove_and_wait(), and the end of a ScopedListener, until passes end.
// - Allocates: the constructor and adding. Throws: both, std::bad_alloc. An empty function is
//   misuse.
// - Exceptions: an exception that leaves a listener ends the pass and reaches the caller.
// - Arguments: all listeners share them, so none may be moved from: by-value arguments arrive as
//   copies or references to const, and rvalue references do not compile.
// - Neither copied nor moved: other threads know the list by its address.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/internal/listener_access.hpp>
#include <handoff/event/internal/listener_function.hpp>
#include <handoff/event/internal/listener_pass.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/listener_options.hpp>
#include <handoff/memory/internal/epochs.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Signature, class Policies = EventPolicies>
class CallbackList;

template <class R, class... Args, class Policies>
class CallbackList<R(Args...), Policies> {
  static_assert((!std::is_rvalue_reference_v<Args> && ...),
                "listeners share the arguments, so none of them may be moved from");
  using Functions = detail::ListenerFunctions<R, Args...>;
  using Calls = detail::ListenerPass<Args...>;

 public:
  CallbackList() : list_(detail::ListenerList::make(nullptr)) {}
  ~CallbackList() {
    detail::Garbage garbage;
    list_->close(garbage);
  }
  CallbackList(const CallbackList&) = delete;
  CallbackList& operator=(const CallbackList&) = delete;

  // Behind, or in front of, all of its priority.
  template <class F>
  ListenerHandle append(F&& function, ListenerOptions options = {}) {
    return add(Functions::make(std::forward<F>(function), options), detail::AddedAt::back);
  }
  template <class F>
  ListenerHandle prepend(F&& function, ListenerOptions options = {}) {
    return add(Functions::make(std::forward<F>(function), options), detail::AddedAt::front);
  }

  // In front of `before`, whose priority it takes; behind all of its own priority if `before` is no
  // longer in this list, or never was.
  template <class F>
  ListenerHandle insert(const ListenerHandle& before, F&& function, ListenerOptions options = {}) {
    return add(Functions::make(std::forward<F>(function), options), detail::AddedAt::before,
               detail::ListenerAccess::listener(before));
  }

  // `condition(args...)` is asked before each call: once it is true the listener is removed, and
  // called for the last time.
  template <class Condition, class F>
  ListenerHandle append_until(Condition&& condition, F&& function, int priority = 0) {
    return add(Functions::make_until(std::forward<Condition>(condition), std::forward<F>(function),
                                     priority),
               detail::AddedAt::back);
  }

  // Called on the executor, some time later, with copies of the arguments; not at all if it was
  // removed by then. remove_and_wait() waits for calls that run there. An executor that refuses
  // has it called here. It outlives the listener.
  template <class E, class F>
  ListenerHandle append_on(E& executor, F&& function, int priority = 0) {
    static_assert(Executor<E>, "append_on: takes an executor, which has try_post() and width()");
    return add(Functions::make_on(executor, std::forward<F>(function), priority),
               detail::AddedAt::back);
  }

  // False for a handle that is not in this list, and then nothing happens.
  bool remove(const ListenerHandle& handle) noexcept { return owns(handle) && handle.remove(); }
  bool remove_and_wait(const ListenerHandle& handle) {
    return is_of_this(handle) && handle.remove_and_wait();
  }

  // Whether the handle's listener is in this list.
  bool owns(const ListenerHandle& handle) const noexcept {
    return is_of_this(handle) && handle.attached();
  }

  // Removes all, as remove() does.
  void clear() noexcept { list_->clear(); }

  // The first listener that holds a function equal to this one, such as the same function pointer;
  // or an empty handle. Those added by append_until() and append_on() are not looked at.
  template <class F>
  ListenerHandle find(const F& function) const {
    const detail::Pass pass(list_);
    return detail::ListenerAccess::handle(
        Functions::template find<std::decay_t<const F>>(*list_, function));
  }

  // Figures of the moment.
  std::size_t size() const noexcept { return list_->size(); }
  bool empty() const noexcept { return size() == 0; }

  // Calls them all; results are dropped.
  void operator()(Args... args) const {
    const detail::Pass pass(list_);
    Calls::template run_all<R, Policies>(*list_, args...);
  }

  // Calls them all as long as `visitor(result)` says true; true if it always did.
  template <class Visitor>
  bool visit_results(Visitor&& visitor, Args... args) const {
    const detail::Pass pass(list_);
    return Calls::template run<R>(
        *list_, [&](auto&& call) { return static_cast<bool>(detail::invoke(visitor, call())); },
        args...);
  }

  // Calls `visitor(handle)` for each listener there is, in order; it may add and remove.
  template <class Visitor>
  void for_each(Visitor&& visitor) const {
    using V = std::remove_reference_t<Visitor>;
    list_->visit(
        [](void* context, detail::ListenerRef listener) {
          detail::call_and_drop(*static_cast<V*>(context),
                                detail::ListenerAccess::handle(std::move(listener)));
        },
        const_cast<std::remove_const_t<V>*>(std::addressof(visitor)));
  }

 private:
  template <class>
  friend struct detail::Books;

  ListenerHandle add(detail::ListenerRef listener, detail::AddedAt place,
                     const detail::Listener* before = nullptr) {
    detail::Garbage garbage;
    list_->add(listener, place, before, garbage);
    return detail::ListenerAccess::handle(std::move(listener));
  }

  bool is_of_this(const ListenerHandle& handle) const noexcept {
    const detail::Listener* const listener = detail::ListenerAccess::listener(handle);
    return listener != nullptr && &listener->list() == list_;
  }

  detail::ListenerList* const list_;
};

}}  // namespace handoff::HANDOFF_ABI

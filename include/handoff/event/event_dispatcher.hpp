// SPDX-License-Identifier: MIT
//
// Lists of listeners by key: one call reaches all listeners of that key.
//
//   handoff::EventDispatcher<std::string, void(const Request&)> routes;
//   auto handle = routes.append_listener("/status", [](const Request& r) { ... });
//   routes.dispatch("/status", request);
//
// For: events that are handled where they occur. Not for: events for later or for another thread
// (EventQueue); one event (CallbackList).
//
// Contract: none of the tiers; nothing is handed over, a dispatch runs on the caller.
// - Keys: any type that can be copied, compared by == and hashed by std::hash or Policies::Hash.
// - All else is as in CallbackList, key by key: concurrency, the rules of passes, what blocks, what
//   allocates, exceptions, arguments. A dispatch takes no lock.
// - Filters are called first, in order, for every key. They may change the arguments; a filter that
//   returns false ends the dispatch.
// - remove_and_wait() waits only for dispatches of the listener's own key, and for those that are
//   in the filters at the moment.
// - A key whose listeners are gone costs memory until the table next grows.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/internal/event_hub.hpp>
#include <handoff/event/internal/listener_access.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/listener_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Key, class Signature, class Policies = EventPolicies>
class EventDispatcher;

template <class Key, class R, class... Args, class Policies>
class EventDispatcher<Key, R(Args...), Policies> {
  static_assert((!std::is_rvalue_reference_v<Args> && ...),
                "listeners share the arguments, so none of them may be moved from");

 protected:
  using Hub = detail::EventHub<Key, Policies, R, Args...>;

 public:
  EventDispatcher() : hub_(Hub::make()) {}
  ~EventDispatcher() { hub_->close(); }
  EventDispatcher(const EventDispatcher&) = delete;
  EventDispatcher& operator=(const EventDispatcher&) = delete;

  // As their namesakes in CallbackList, for one key.
  template <class F>
  ListenerHandle append_listener(const Key& key, F&& function, ListenerOptions options = {}) {
    return add(key, Functions::make(std::forward<F>(function), options), detail::AddedAt::back);
  }
  template <class F>
  ListenerHandle prepend_listener(const Key& key, F&& function, ListenerOptions options = {}) {
    return add(key, Functions::make(std::forward<F>(function), options), detail::AddedAt::front);
  }
  template <class F>
  ListenerHandle insert_listener(const Key& key, const ListenerHandle& before, F&& function,
                                 ListenerOptions options = {}) {
    return add(key, Functions::make(std::forward<F>(function), options), detail::AddedAt::before,
               detail::ListenerAccess::listener(before));
  }
  template <class Condition, class F>
  ListenerHandle append_listener_until(const Key& key, Condition&& condition, F&& function,
                                       int priority = 0) {
    return add(key,
               Functions::make_until(std::forward<Condition>(condition), std::forward<F>(function),
                                     priority),
               detail::AddedAt::back);
  }
  template <class E, class F>
  ListenerHandle append_listener_on(E& executor, const Key& key, F&& function, int priority = 0) {
    static_assert(Executor<E>,
                  "append_listener_on: takes an executor, which has try_post() and width()");
    return add(key, Functions::make_on(executor, std::forward<F>(function), priority),
               detail::AddedAt::back);
  }

  // `filter(args&...)` returns false to end the dispatch.
  template <class F>
  ListenerHandle append_filter(F&& filter, int priority = 0) {
    detail::ListenerRef made = Hub::FilterFunctions::make(std::forward<F>(filter), {priority});
    hub_->add_filter(made, detail::AddedAt::back);
    return detail::ListenerAccess::handle(std::move(made));
  }

  // False for a handle that is not in this list, and then nothing happens. Handles remove as well.
  bool remove_listener(const Key& key, const ListenerHandle& handle) noexcept {
    return owns_listener(key, handle) && handle.remove();
  }

  // Whether the handle's listener is in the list of this key.
  bool owns_listener(const Key& key, const ListenerHandle& handle) const noexcept {
    const detail::Pass pass(hub_);
    return handle.attached() &&
           &detail::ListenerAccess::listener(handle)->list() == hub_->find(key);
  }

  // As CallbackList::find, for one key.
  template <class F>
  ListenerHandle find_listener(const Key& key, const F& function) const {
    const detail::Pass pass(hub_);
    const detail::ListenerList* const list = hub_->find(key);
    if (list == nullptr) return {};
    return detail::ListenerAccess::handle(
        Functions::template find<std::decay_t<const F>>(*list, function));
  }

  // Figures of the moment.
  std::size_t listener_count(const Key& key) const noexcept {
    const detail::Pass pass(hub_);
    const detail::ListenerList* const list = hub_->find(key);
    return list != nullptr ? list->size() : 0;
  }

  // Whether the key has any.
  bool has_listener(const Key& key) const noexcept { return listener_count(key) != 0; }

  // Calls the filters, then the listeners of the key. Results are dropped.
  void dispatch(const Key& key, Args... args) const {
    detail::Pass pass(hub_);
    hub_->dispatch(pass, key, args...);
  }

  // The same with the key that the arguments hold.
  void dispatch(Args... args) const
    requires requires { Policies::get_key(args...); }
  {
    detail::Pass pass(hub_);
    hub_->dispatch(pass, Policies::get_key(args...), args...);
  }

 protected:
  using Functions = typename Hub::Functions;

  ListenerHandle add(const Key& key, detail::ListenerRef listener, detail::AddedAt place,
                     const detail::Listener* before = nullptr) {
    hub_->add(key, listener, place, before);
    return detail::ListenerAccess::handle(std::move(listener));
  }

  Hub* const hub_;
};

}}  // namespace handoff::HANDOFF_ABI

// SPDX-License-Identifier: MIT
//
// Listeners of several signatures by key: a dispatch reaches those of its key and its signature.
//
//   handoff::HeterEventDispatcher<Key, handoff::Signatures<void(int), void(int, int)>> events;
//   events.append_listener(Key::resize, [](int width, int height) { ... });
//   events.dispatch(Key::resize, 640, 480);
//   events.of<void(int)>().append_filter(f);   // all else that an EventDispatcher can do
//
// For: events whose kinds carry different arguments. Not for: one signature (EventDispatcher).
// signatures.hpp says which signature a function or a call belongs to. There is one EventDispatcher
// for each: its contract holds for one signature, word for word, filters included.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/signatures.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Key, class AllSignatures, class Policies = EventPolicies>
class HeterEventDispatcher;

template <class Key, class... All, class Policies>
class HeterEventDispatcher<Key, Signatures<All...>, Policies> {
 protected:
  using Choice = detail::SignatureChoice<Signatures<All...>>;

 public:
  // The dispatcher of one signature.
  template <class Signature>
  auto& of() noexcept {
    return std::get<Choice::template named<Signature>()>(dispatchers_);
  }
  template <class Signature>
  const auto& of() const noexcept {
    return std::get<Choice::template named<Signature>()>(dispatchers_);
  }

  template <class Signature = detail::Deduced, class F>
  ListenerHandle append_listener(const Key& key, F&& function, ListenerOptions options = {}) {
    return dispatcher_for<Signature, F>().append_listener(key, std::forward<F>(function), options);
  }
  template <class Signature = detail::Deduced, class F>
  ListenerHandle prepend_listener(const Key& key, F&& function, ListenerOptions options = {}) {
    return dispatcher_for<Signature, F>().prepend_listener(key, std::forward<F>(function), options);
  }

  // False for a handle that is not of this key, and then nothing happens. Handles remove as well.
  bool remove_listener(const Key& key, const ListenerHandle& handle) noexcept {
    return owns_listener(key, handle) && handle.remove();
  }
  bool owns_listener(const Key& key, const ListenerHandle& handle) const noexcept {
    return std::apply([&](const auto&... each) { return (each.owns_listener(key, handle) || ...); },
                      dispatchers_);
  }

  // Figures of the moment.
  std::size_t listener_count(const Key& key) const noexcept {
    return std::apply([&](const auto&... each) { return (each.listener_count(key) + ...); },
                      dispatchers_);
  }
  bool has_listener(const Key& key) const noexcept { return listener_count(key) != 0; }

  // Calls the filters, then the listeners of the key, of the signature that takes these arguments.
  template <class... Args>
  void dispatch(const Key& key, Args&&... args) const {
    std::get<Choice::template of_call<Args...>()>(dispatchers_)
        .dispatch(key, std::forward<Args>(args)...);
  }

 protected:
  template <class Signature, class F>
  auto& dispatcher_for() noexcept {
    return std::get<Choice::template of_function<Signature, F>()>(dispatchers_);
  }

  std::tuple<EventDispatcher<Key, All, Policies>...> dispatchers_;
};

}}  // namespace handoff::HANDOFF_ABI

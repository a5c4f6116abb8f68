// SPDX-License-Identifier: MIT
//
// Listeners of several signatures in one list: a call reaches those of its own signature.
//
//   handoff::HeterCallbackList<handoff::Signatures<void(int), void(const std::string&)>> list;
//   auto handle = list.append([](int n) { ... });
//   list.append([](const std::string& text) { ... });
//   list(5);
//   list.of<void(int)>().insert(handle, f);   // all else that a CallbackList can do
//
// For: hooks that carry one of a few kinds of arguments. Not for: one signature (CallbackList).
// signatures.hpp says which signature a function or a call belongs to. There is one CallbackList
// for each: its contract holds for the listeners of one signature, word for word; among listeners
// of different ones there is nothing to order, since no call reaches both.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/signatures.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class AllSignatures, class Policies = EventPolicies>
class HeterCallbackList;

template <class... All, class Policies>
class HeterCallbackList<Signatures<All...>, Policies> {
  using Choice = detail::SignatureChoice<Signatures<All...>>;

 public:
  // The list of one signature.
  template <class Signature>
  auto& of() noexcept {
    return std::get<Choice::template named<Signature>()>(lists_);
  }
  template <class Signature>
  const auto& of() const noexcept {
    return std::get<Choice::template named<Signature>()>(lists_);
  }

  template <class Signature = detail::Deduced, class F>
  ListenerHandle append(F&& function, ListenerOptions options = {}) {
    return list_for<Signature, F>().append(std::forward<F>(function), options);
  }
  template <class Signature = detail::Deduced, class F>
  ListenerHandle prepend(F&& function, ListenerOptions options = {}) {
    return list_for<Signature, F>().prepend(std::forward<F>(function), options);
  }

  // False for a handle that is not in this list, and then nothing happens.
  bool remove(const ListenerHandle& handle) noexcept { return owns(handle) && handle.remove(); }
  bool owns(const ListenerHandle& handle) const noexcept {
    return std::apply([&](const auto&... list) { return (list.owns(handle) || ...); }, lists_);
  }
  void clear() noexcept {
    std::apply([](auto&... list) { (list.clear(), ...); }, lists_);
  }

  // Figures of the moment.
  std::size_t size() const noexcept {
    return std::apply([](const auto&... list) { return (list.size() + ...); }, lists_);
  }
  bool empty() const noexcept { return size() == 0; }

  // Calls the listeners of the signature that takes these arguments; results are dropped.
  template <class... Args>
  void operator()(Args&&... args) const {
    std::get<Choice::template of_call<Args...>()>(lists_)(std::forward<Args>(args)...);
  }

 private:
  template <class Signature, class F>
  auto& list_for() noexcept {
    return std::get<Choice::template of_function<Signature, F>()>(lists_);
  }

  std::tuple<CallbackList<All, Policies>...> lists_;
};

}}  // namespace handoff::HANDOFF_ABI

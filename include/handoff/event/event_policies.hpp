// SPDX-License-Identifier: MIT
//
// How a program customises its events: a struct derived from EventPolicies with any of these static
// members. A member that is left out costs nothing.
//
//   struct MyPolicies : handoff::EventPolicies {
//     // CallbackList, EventDispatcher, EventQueue. Asked after each listener with the arguments as
//     // they were passed on: false ends the pass.
//     static bool can_continue(const Event& event) { return !event.handled; }
//
//     // EventDispatcher, EventQueue. Finds the key in the arguments, so that dispatch(event) and
//     // enqueue(event) need no key. KeyIsFirst does this if the key is the first argument.
//     static int get_key(const Event& event) { return event.kind; }
//
//     // EventDispatcher, EventQueue. Hash of a key; std::hash if left out. It is asked, and keys
//     // are compared and copied, under a lock now and then: none of these may use the same object.
//     struct Hash { std::size_t operator()(const Key& key) const noexcept; };
//
//     // EventQueue. Higher ones are processed first; among equals the order of enqueueing holds.
//     // Asked by enqueue(), before it takes any lock.
//     static int priority(const Key& key, const Event& event) { return event.urgent ? 1 : 0; }
//
//     // EventQueue. A newer event of the same key replaces one that still waits, which counts as
//     // cancelled.
//     static constexpr bool coalesce = true;
//
//     // EventQueue. Events may have a deadline: enqueue_expiring().
//     static constexpr bool expires = true;
//
//     // EventQueue. It has a capacity: see BoundedEventQueueOptions. If left out, it grows.
//     static constexpr bool bounded = true;
//   };
#pragma once

#include <memory>  // std::hash
#include <type_traits>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct EventPolicies {};

// The key is the first argument, and listeners get it too.
struct KeyIsFirst : EventPolicies {
  template <class Key, class... Rest>
  static const Key& get_key(const Key& key, const Rest&...) noexcept {
    return key;
  }
};

namespace detail {

template <class Policies, class Key>
struct HashOf {
  using type = std::hash<Key>;
};
template <class Policies, class Key>
  requires requires { typename Policies::Hash; }
struct HashOf<Policies, Key> {
  using type = typename Policies::Hash;
};

template <class Policies>
consteval bool coalesces() {
  if constexpr (requires { Policies::coalesce; }) return Policies::coalesce;
  return false;
}
template <class Policies>
consteval bool expires() {
  if constexpr (requires { Policies::expires; }) return Policies::expires;
  return false;
}
template <class Policies>
consteval bool is_bounded() {
  if constexpr (requires { Policies::bounded; }) return Policies::bounded;
  return false;
}

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

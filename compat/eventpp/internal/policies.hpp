// SPDX-License-Identifier: MIT
//
// What a policies class says, or the default where it says nothing.
//
// Not for: users.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <handoff/event/event_policies.hpp>

#include <eventpp/eventpolicies.h>

namespace eventpp::internal {

template <class Policies>
struct ThreadingOf {
  using type = MultipleThreading;
};
template <class Policies>
  requires requires { typename Policies::Threading; }
struct ThreadingOf<Policies> {
  using type = typename Policies::Threading;
};

template <class Policies, class Prototype>
struct CallbackOf {
  using type = std::function<Prototype>;
};
template <class Policies, class Prototype>
  requires requires { typename Policies::Callback; }
struct CallbackOf<Policies, Prototype> {
  using type = typename Policies::Callback;
};

template <class Policies>
struct ArgumentPassingOf {
  using type = ArgumentPassingAutoDetect;
};
template <class Policies>
  requires requires { typename Policies::ArgumentPassingMode; }
struct ArgumentPassingOf<Policies> {
  using type = typename Policies::ArgumentPassingMode;
};

template <class Policies>
struct MixinsOf {
  using type = MixinList<>;
};
template <class Policies>
  requires requires { typename Policies::Mixins; }
struct MixinsOf<Policies> {
  using type = typename Policies::Mixins;
};

template <class Key>
concept Hashable = requires(const Key& key) {
  { std::hash<Key>{}(key) } -> std::convertible_to<std::size_t>;
  { key == key } -> std::convertible_to<bool>;
};

template <class Policies, class Key>
concept HasMap = requires { typename Policies::template Map<Key, std::shared_ptr<int>>; };

template <class Policies, class Key, class T>
struct MapOf {
  using type = std::map<Key, T>;
};
template <class Policies, Hashable Key, class T>
  requires(!HasMap<Policies, Key>)
struct MapOf<Policies, Key, T> {
  using type = std::unordered_map<Key, T>;
};
template <class Policies, class Key, class T>
  requires HasMap<Policies, Key>
struct MapOf<Policies, Key, T> {
  using type = typename Policies::template Map<Key, T>;
};

// The first argument is the event, unless the policies know better.
template <class Policies, class... Args>
decltype(auto) event_of(const Args&... args) {
  if constexpr (requires { Policies::getEvent(args...); }) {
    return Policies::getEvent(args...);
  } else {
    return [](const auto& first, const auto&...) -> decltype(auto) { return first; }(args...);
  }
}

template <class Policies, class... Args>
bool may_go_on(const Args&... args) {
  if constexpr (requires { Policies::canContinueInvoking(args...); }) {
    return static_cast<bool>(Policies::canContinueInvoking(args...));
  } else {
    return true;
  }
}

// Whether nobody sees what protects the listeners: then no lock needs to.
template <class Threading>
concept NoLockSeen = (std::same_as<typename Threading::Mutex, std::mutex> ||
                      std::same_as<typename Threading::Mutex, SpinLock>) &&
                     std::same_as<typename Threading::template Atomic<int>, std::atomic<int>>;

template <class Callback>
constexpr bool is_std_function = false;
template <class Prototype>
constexpr bool is_std_function<std::function<Prototype>> = true;

template <class Policies>
concept PoolsItems = requires(typename Policies::template QueueList<int>& list) {
  []<std::size_t N>(PoolQueueList<int, N>&) {}(list);
};

// ... and nobody sees what keeps the events.
template <class Policies, class Event>
concept NoQueueSeen =
    NoLockSeen<typename ThreadingOf<Policies>::type> && Hashable<Event> &&
    std::same_as<typename ThreadingOf<Policies>::type::ConditionVariable,
                 std::condition_variable> &&
    (!requires { typename Policies::template QueueList<int>; } || PoolsItems<Policies>);

// What the types of event/ are told of the policies.
template <class Policies, class Event>
struct NativePolicies : handoff::EventPolicies {
  using Hash = std::hash<Event>;
  template <class... Args>
    requires requires(const Args&... args) { Policies::canContinueInvoking(args...); }
  static bool can_continue(const Args&... args) {
    return static_cast<bool>(Policies::canContinueInvoking(args...));
  }
};

// func(handle, callback) or func(callback).
template <class Func, class Handle, class Callback>
decltype(auto) visit_with(Func& func, const Handle& handle, const Callback& callback) {
  if constexpr (std::is_invocable_v<Func&, const Handle&, const Callback&>) {
    return func(handle, callback);
  } else {
    return func(callback);
  }
}

}  // namespace eventpp::internal

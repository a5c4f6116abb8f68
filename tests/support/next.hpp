// SPDX-License-Identifier: MIT
//
// Choosers and visitors for EventQueue::drain() and drain_if(), made of a predicate: what it is
// true for is taken, or ends the call.
#pragma once

#include <concepts>

#include <handoff/event/next.hpp>

namespace handoff::test {

// With the key, or without it.
template <class Predicate, class Key, class... Args>
bool asked(const Predicate& predicate, const Key& key, const Args&... args) {
  if constexpr (std::predicate<const Predicate&, const Key&, const Args&...>) {
    return predicate(key, args...);
  } else {
    return predicate(args...);
  }
}

// For drain_if(): those that it is true for; the others stay.
template <class Predicate>
auto take_if(Predicate predicate) {
  return [predicate](const auto&... args)
    requires std::invocable<Predicate, decltype(args)...>
  { return predicate(args...) ? Next::take : Next::leave; };
}

// For drain_if(): those before the first that it is true for.
template <class Predicate>
auto take_until(Predicate predicate) {
  return [predicate](const auto&... args)
    requires std::invocable<Predicate, decltype(args)...>
  { return predicate(args...) ? Next::stop : Next::take; };
}

// For drain(): shows the visitor those that it is true for; the others stay.
template <class Predicate, class Visitor>
auto show_if(Predicate predicate, Visitor visitor) {
  return [=](const auto& key, auto&... args) {
    if (!asked(predicate, key, args...)) return Next::leave;
    visitor(key, args...);
    return Next::take;
  };
}

// For drain(): shows the visitor those before the first that it is true for.
template <class Predicate, class Visitor>
auto show_until(Predicate predicate, Visitor visitor) {
  return [=](const auto& key, auto&... args) {
    if (asked(predicate, key, args...)) return Next::stop;
    visitor(key, args...);
    return Next::take;
  };
}

}  // namespace handoff::test

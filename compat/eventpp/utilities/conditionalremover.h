// SPDX-License-Identifier: MIT
//
// eventpp's ConditionalRemover: listeners that remove themselves once a condition is true.
//
//   eventpp::conditionalRemover(dispatcher).appendListener(3, [] { ... }, [] { return done; });
//
// For: programs written against eventpp. Not for: new ones, see append_until() in
// handoff/event/.
// The condition is asked after each call, with the arguments or without. A copy of a dispatcher has
// listeners that do not remove themselves.
// Concurrency: as the target's, which outlives what was added. The remover itself may end at once.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>
#include <utility>

#include <eventpp/internal/self_removing.hpp>

namespace eventpp {
namespace internal {

template <class T, class F, class Condition>
struct ConditionalListener {
  ConditionalListener(T& target, F f, Condition asked)
      : removal(target), function(std::move(f)), condition(std::move(asked)) {}

  template <class... Args>
    requires std::is_invocable_v<F&, Args&...>
  void operator()(Args&&... args) {
    function(args...);
    bool last = false;
    if constexpr (std::is_invocable_v<Condition&, Args&...>) {
      last = static_cast<bool>(condition(args...));
    } else {
      last = static_cast<bool>(condition());
    }
    if (last) removal.remove();
  }

  SelfRemoval<T> removal;
  F function;
  Condition condition;
};

}  // namespace internal

template <class Target>
class ConditionalRemover : public internal::SelfRemover<Target, internal::ConditionalListener> {
 public:
  using internal::SelfRemover<Target, internal::ConditionalListener>::SelfRemover;
};

template <class Target>
ConditionalRemover<Target> conditionalRemover(Target& target) noexcept {
  return ConditionalRemover<Target>(target);
}

}  // namespace eventpp

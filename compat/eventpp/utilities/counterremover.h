// SPDX-License-Identifier: MIT
//
// eventpp's CounterRemover: listeners that remove themselves after so many calls.
//
//   eventpp::counterRemover(dispatcher).appendListener(3, [] { ... }, 2);
//
// For: programs written against eventpp. Not for: new ones, see ListenerOptions::calls in
// handoff/event/.
// The listener is removed before its last call, so that what it does may dispatch again. Calls on
// several threads share the count: there are never more. A copy of a dispatcher has listeners that
// count for themselves, and stay without calling.
// Concurrency: as the target's, which outlives what was added. The remover itself may end at once.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>
#include <utility>

#include <handoff/sync/internal/atomic.hpp>

#include <eventpp/internal/self_removing.hpp>

namespace eventpp {
namespace internal {

template <class T, class F, class Count>
struct CounterListener {
  CounterListener(T& target, F f, Count calls)
      : removal(target), function(std::move(f)), left(calls > 1 ? static_cast<int>(calls) : 1) {}
  CounterListener(const CounterListener& other)
      : removal(other.removal),
        function(other.function),
        left(other.left.load(order::relaxed)) {}  // order: a number
  CounterListener(CounterListener&& other) noexcept
      : removal(std::move(other.removal)),
        function(std::move(other.function)),
        left(other.left.load(order::relaxed)) {}  // order: relaxed, before anybody calls it
  CounterListener& operator=(const CounterListener&) = delete;
  ~CounterListener() = default;

  template <class... Args>
    requires std::is_invocable_v<F&, Args&...>
  void operator()(Args&&... args) {
    const int now = left.fetch_sub(1, order::relaxed);  // order: relaxed, a number alone
    if (now < 1) return;  // a call on another thread was the last
    if (now == 1) removal.remove();
    function(args...);
  }

  using order = handoff::sync::order;
  SelfRemoval<T> removal;
  F function;
  handoff::sync::atomic<int> left;
};

}  // namespace internal

template <class Target>
class CounterRemover : public internal::SelfRemover<Target, internal::CounterListener> {
 public:
  using internal::SelfRemover<Target, internal::CounterListener>::SelfRemover;
};

template <class Target>
CounterRemover<Target> counterRemover(Target& target) noexcept {
  return CounterRemover<Target>(target);
}

}  // namespace eventpp

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

#include <handoff/sync/atomic.hpp>

#include <eventpp/internal/self_removing.hpp>

namespace eventpp {
namespace internal {

template <class T, class F>
struct CounterListener {
  CounterListener(T& target, F f, int calls)
      : removal(target), function(std::move(f)), left(calls > 1 ? calls : 1) {}
  CounterListener(const CounterListener& other)
      : removal(other.removal), function(other.function), left(other.left.load(order::relaxed)) {}  // order: a number
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
class CounterRemover {
 public:
  using Handle = typename Target::Handle;

  explicit CounterRemover(Target& target) noexcept : target_(target) {}

  // Of a dispatcher or a queue.
  template <class Event, class F>
  Handle appendListener(const Event& event, F&& f, int triggerCount = 1) {
    return add(std::forward<F>(f), triggerCount, [&](auto made) {
      return target_.appendListener(event, std::move(made));
    }, event);
  }
  template <class Event, class F>
  Handle prependListener(const Event& event, F&& f, int triggerCount = 1) {
    return add(std::forward<F>(f), triggerCount, [&](auto made) {
      return target_.prependListener(event, std::move(made));
    }, event);
  }
  template <class Event, class F>
  Handle insertListener(const Event& event, F&& f, const Handle& before, int triggerCount = 1) {
    return add(std::forward<F>(f), triggerCount, [&](auto made) {
      return target_.insertListener(event, std::move(made), before);
    }, event);
  }

  // Of a callback list.
  template <class F>
  Handle append(F&& f, int triggerCount = 1) {
    return add(std::forward<F>(f), triggerCount, [&](auto made) {
      return target_.append(std::move(made));
    });
  }
  template <class F>
  Handle prepend(F&& f, int triggerCount = 1) {
    return add(std::forward<F>(f), triggerCount, [&](auto made) {
      return target_.prepend(std::move(made));
    });
  }
  template <class F>
  Handle insert(F&& f, const Handle& before, int triggerCount = 1) {
    return add(std::forward<F>(f), triggerCount, [&](auto made) {
      return target_.insert(std::move(made), before);
    });
  }

 private:
  template <class F, class Rule, class Add, class... Where>
  Handle add(F&& f, Rule rule, Add&& how, const Where&... where) {
    using Made = internal::CounterListener<Target, std::decay_t<F>>;
    return internal::add_self_removing<Target>(
        Made(target_, std::forward<F>(f), std::move(rule)), how, where...);
  }

  Target& target_;
};

template <class Target>
CounterRemover<Target> counterRemover(Target& target) noexcept {
  return CounterRemover<Target>(target);
}

}  // namespace eventpp

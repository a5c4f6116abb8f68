// SPDX-License-Identifier: MIT
//
// eventpp's conditionalFunctor: a function that is called where a condition on its arguments holds.
//
//   list.append(eventpp::conditionalFunctor([](int) { ... }, [](int n) { return n == 1; }));
//
// For: programs written against eventpp. Not for: new ones, see handoff::call_when.
// Concurrency, exceptions: as the two functions.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>
#include <utility>

namespace eventpp {

template <class Func, class Condition>
class ConditionalFunctor {
 public:
  ConditionalFunctor(Func func, Condition condition)
      : func_(std::move(func)), condition_(std::move(condition)) {}

  template <class... Args>
    requires(std::is_invocable_v<Func&, Args&...> && std::is_invocable_v<Condition&, Args&...>)
  void operator()(Args&&... args) {
    if (condition_(args...)) func_(args...);
  }

 private:
  Func func_;
  Condition condition_;
};

template <class Func, class Condition>
ConditionalFunctor<Func, Condition> conditionalFunctor(Func func, Condition condition) {
  return {std::move(func), std::move(condition)};
}

}  // namespace eventpp

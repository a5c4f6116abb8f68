// SPDX-License-Identifier: MIT
//
// eventpp's argumentAdapter: a listener for derived types where bases are passed on.
//
//   dispatcher.appendListener(3, eventpp::argumentAdapter<void(const Click&)>(on_click));
//
// For: programs written against eventpp. Not for: new ones, see handoff::adapt.
// Arguments are cast by static_cast, std::shared_ptr by std::static_pointer_cast: that they really
// are what the listener wants is for the program to know.
// Concurrency, exceptions: as the function.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace eventpp {
namespace internal {

template <class T>
struct PointeeOfShared {};
template <class T>
struct PointeeOfShared<std::shared_ptr<T>> {
  using type = T;
};

template <class To, class From>
decltype(auto) cast_argument(From& from) {
  using Shared = PointeeOfShared<std::remove_cvref_t<To>>;
  if constexpr (requires { typename Shared::type; }) {
    if constexpr (std::is_same_v<std::remove_cvref_t<To>, std::remove_cvref_t<From>>) {
      return static_cast<From&>(from);
    } else {
      return std::static_pointer_cast<typename Shared::type>(from);
    }
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace internal

template <class Func, class Prototype>
class ArgumentAdapter;

template <class Func, class R, class... Wanted>
class ArgumentAdapter<Func, R(Wanted...)> {
 public:
  explicit ArgumentAdapter(Func func) : func_(std::move(func)) {}

  template <class... Args>
    requires(sizeof...(Args) == sizeof...(Wanted))
  void operator()(Args&&... args) {
    func_(internal::cast_argument<Wanted>(args)...);
  }

 private:
  Func func_;
};

template <class Prototype, class Func>
ArgumentAdapter<std::decay_t<Func>, Prototype> argumentAdapter(Func&& func) {
  return ArgumentAdapter<std::decay_t<Func>, Prototype>(std::forward<Func>(func));
}
template <class R, class... Args>
auto argumentAdapter(std::function<R(Args...)> func) {
  return ArgumentAdapter<std::function<R(Args...)>, R(Args...)>(std::move(func));
}
template <class R, class... Args>
auto argumentAdapter(R (*func)(Args...)) {
  return ArgumentAdapter<R (*)(Args...), R(Args...)>(func);
}

}  // namespace eventpp

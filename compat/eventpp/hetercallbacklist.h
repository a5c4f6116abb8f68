// SPDX-License-Identifier: MIT
//
// eventpp's HeterCallbackList: callback lists of several prototypes under one name.
//
//   eventpp::HeterCallbackList<eventpp::HeterTuple<void(), void(int)>> list;
//   list.append([] { ... });
//   list.append([](int n) { ... });
//   list(3);                          // the second
//
// For: programs written against eventpp. Not for: new ones, see handoff::AnyData.
// A callback belongs to the first prototype that it can be called by; a call to the one that has
// exactly its arguments, or else to the first that they convert to.
// Concurrency, order, blocking, allocation, exceptions, handles, copies: as in CallbackList,
// prototype by prototype.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <eventpp/callbacklist.h>
#include <eventpp/internal/heter.hpp>

namespace eventpp {

template <class PrototypeList, class Policies = DefaultPolicies>
class HeterCallbackList;

template <class... Prototypes, class Policies>
class HeterCallbackList<HeterTuple<Prototypes...>, Policies> {
  template <class Prototype>
  using List = CallbackList<Prototype, internal::HeterListPolicies<Policies>>;
  static constexpr std::index_sequence_for<Prototypes...> kAll{};

 public:
  using Handle = internal::HeterHandle<typename List<Prototypes>::Handle...>;

  void swap(HeterCallbackList& other) noexcept {
    each_pair(other, [](auto& a, auto& b) { a.swap(b); });
  }
  friend void swap(HeterCallbackList& a, HeterCallbackList& b) noexcept { a.swap(b); }

  bool empty() const {
    return std::apply([](const auto&... lists) { return (lists.empty() && ...); }, lists_);
  }
  operator bool() const { return !empty(); }  // NOLINT(google-explicit-constructor)

  template <class F>
  Handle append(F&& callback) {
    constexpr std::size_t i = of<F>();
    return Handle(std::in_place_index<i>, std::get<i>(lists_).append(std::forward<F>(callback)));
  }
  template <class F>
  Handle prepend(F&& callback) {
    constexpr std::size_t i = of<F>();
    return Handle(std::in_place_index<i>, std::get<i>(lists_).prepend(std::forward<F>(callback)));
  }
  // Behind all others of its prototype if `before` is none of these.
  template <class F>
  Handle insert(F&& callback, const Handle& before) {
    constexpr std::size_t i = of<F>();
    return Handle(std::in_place_index<i>,
                  std::get<i>(lists_).insert(std::forward<F>(callback), before.template at<i>()));
  }

  bool remove(const Handle& handle) {
    bool removed = false;
    internal::with_index(kAll, handle.index(), [&](auto i) {
      removed = std::get<i>(lists_).remove(handle.template at<i>());
    });
    return removed;
  }

  // Of one prototype: func(handle, callback) or func(callback).
  template <class Prototype, class Func>
  void forEach(Func&& func) const {
    forEachIf<Prototype>([&](const Handle& handle, const auto& callback) {
      internal::visit_with(func, handle, callback);
      return true;
    });
  }
  template <class Prototype, class Func>
  bool forEachIf(Func&& func) const {
    constexpr std::size_t i = internal::index_of<Prototype, Prototypes...>();
    static_assert(i != internal::kNone, "no such prototype in the list");
    return std::get<i>(lists_).forEachIf([&](const auto& handle, const auto& callback) {
      return static_cast<bool>(
          internal::visit_with(func, Handle(std::in_place_index<i>, handle), callback));
    });
  }

  template <class... Args>
  void operator()(Args&&... args) const {
    for_call<Args...>()(std::forward<Args>(args)...);
  }
  // As long as they say true; whether all did. Ours, for filters.
  template <class... Args>
  bool callWhile(Args&&... args) const {
    return for_call<Args...>().callWhile(std::forward<Args>(args)...);
  }

 private:
  template <class F>
  static consteval std::size_t of() {
    constexpr std::size_t i = internal::index_of_callback<std::decay_t<F>, Prototypes...>();
    static_assert(i != internal::kNone, "the callback fits none of the prototypes");
    return i;
  }
  template <class... Args>
  const auto& for_call() const {
    constexpr std::size_t i = internal::IndexOfCall<std::tuple<Args...>, Prototypes...>::value;
    static_assert(i != internal::kNone, "the arguments fit none of the prototypes");
    return std::get<i>(lists_);
  }
  template <class Use>
  void each_pair(HeterCallbackList& other, Use&& use) noexcept {
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
      (use(std::get<kAt>(lists_), std::get<kAt>(other.lists_)), ...);
    }(kAll);
  }

  std::tuple<List<Prototypes>...> lists_;
};

}  // namespace eventpp

// SPDX-License-Identifier: MIT
//
// eventpp's HeterEventDispatcher: listeners by event, of several prototypes.
//
//   using Prototypes = eventpp::HeterTuple<void(), void(std::string)>;
//   eventpp::HeterEventDispatcher<int, Prototypes> dispatcher;
//   dispatcher.appendListener(3, [](std::string s) { ... });
//   dispatcher.dispatch(3, "hello");
//
// For: programs written against eventpp. Not for: new ones, see handoff::AnyData.
// The event is left out of the arguments, unless the policies say ArgumentPassingIncludeEvent.
// Which prototype: as in HeterCallbackList. All else: as in EventDispatcher.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <eventpp/eventdispatcher.h>
#include <eventpp/mixins/mixinheterfilter.h>
#include <eventpp/internal/heter.hpp>

namespace eventpp {
namespace internal {

// `Bottom` is what the mixins stand on: this class, or a queue made of it (void: this class).
template <class Event, class PrototypeList, class Policies, class Bottom>
class HeterEventDispatcherBase;

template <class Event_, class... Prototypes, class Policies_, class Bottom>
class HeterEventDispatcherBase<Event_, HeterTuple<Prototypes...>, Policies_, Bottom> {
  template <class Prototype>
  using Dispatcher = EventDispatcher<Event_, Prototype, HeterTablePolicies<Policies_>>;
  static constexpr std::index_sequence_for<Prototypes...> kAll{};

 public:
  using Event = Event_;
  using Policies = Policies_;
  using PrototypeList = HeterTuple<Prototypes...>;
  using FilterList = HeterTuple<typename Takes<Prototypes>::Filter...>;
  using Handle = HeterHandle<typename Dispatcher<Prototypes>::Handle...>;

  template <class F>
  Handle appendListener(const Event& event, F&& listener) {
    constexpr std::size_t i = of<F>();
    return Handle(std::in_place_index<i>,
                  std::get<i>(dispatchers_).appendListener(event, std::forward<F>(listener)));
  }
  template <class F>
  Handle prependListener(const Event& event, F&& listener) {
    constexpr std::size_t i = of<F>();
    return Handle(std::in_place_index<i>,
                  std::get<i>(dispatchers_).prependListener(event, std::forward<F>(listener)));
  }
  template <class F>
  Handle insertListener(const Event& event, F&& listener, const Handle& before) {
    constexpr std::size_t i = of<F>();
    return Handle(std::in_place_index<i>,
                  std::get<i>(dispatchers_)
                      .insertListener(event, std::forward<F>(listener), before.template at<i>()));
  }

  bool removeListener(const Event& event, const Handle& handle) {
    bool removed = false;
    with_index(kAll, handle.index(), [&](auto i) {
      removed = std::get<i>(dispatchers_).removeListener(event, handle.template at<i>());
    });
    return removed;
  }
  bool hasAnyListener(const Event& event) const {
    return std::apply([&](const auto&... d) { return (d.hasAnyListener(event) || ...); },
                      dispatchers_);
  }

  // Of one prototype: func(handle, callback) or func(callback).
  template <class Prototype, class Func>
  void forEach(const Event& event, Func&& func) const {
    forEachIf<Prototype>(event, [&](const Handle& handle, const auto& callback) {
      visit_with(func, handle, callback);
      return true;
    });
  }
  template <class Prototype, class Func>
  bool forEachIf(const Event& event, Func&& func) const {
    constexpr std::size_t i = index_of<Prototype, Prototypes...>();
    static_assert(i != kNone, "no such prototype in the list");
    return std::get<i>(dispatchers_)
        .forEachIf(event, [&](const auto& handle, const auto& callback) {
          return static_cast<bool>(
              visit_with(func, Handle(std::in_place_index<i>, handle), callback));
        });
  }

  template <class T, class... Args>
  void dispatch(T&& first, Args&&... args) const {
    if constexpr (kPassesEvent<Policies>) {
      constexpr std::size_t i = for_call<T, Args...>();
      deliver_converted<i>(event_of<Policies>(first, args...), first, args...);
    } else {
      constexpr std::size_t i = for_call<Args...>();
      deliver_converted<i>(event_of<Policies>(first, args...), args...);
    }
  }

 protected:
  using MixinBase = std::conditional_t<std::is_void_v<Bottom>, HeterEventDispatcherBase, Bottom>;

  // Which prototype a call belongs to.
  template <class... Args>
  static consteval std::size_t for_call() {
    constexpr std::size_t i = IndexOfCall<std::tuple<Args...>, Prototypes...>::value;
    static_assert(i != kNone, "the arguments fit none of the prototypes");
    return i;
  }

  // Mixins first, then the listeners.
  template <std::size_t kAt, class... Args>
  void deliver(const Event& event, Args&... args) const {
    using Ask = AskMixins<MixinBase, typename MixinsOf<Policies>::type>;
    if (!Ask::ask(static_cast<const MixinBase&>(*this), args...)) return;
    std::get<kAt>(dispatchers_).directDispatch(event, args...);
  }

 private:
  template <class F>
  static consteval std::size_t of() {
    constexpr std::size_t i = index_of_callback<std::decay_t<F>, Prototypes...>();
    static_assert(i != kNone, "the listener fits none of the prototypes");
    return i;
  }

  // Made the prototype's arguments, so that a filter may change those by value.
  template <std::size_t kAt, class... Args>
  void deliver_converted(const Event& event, Args&... args) const {
    using Prototype = std::tuple_element_t<kAt, std::tuple<std::type_identity<Prototypes>...>>;
    [&]<class R, class... Wanted>(std::type_identity<R(Wanted...)>) {
      [&](std::conditional_t<std::is_reference_v<Wanted>, Wanted, std::remove_cv_t<Wanted>>... a) {
        deliver<kAt>(event, a...);
      }(static_cast<Wanted>(args)...);
    }(Prototype());
  }

  std::tuple<Dispatcher<Prototypes>...> dispatchers_;
};

template <class Event, class PrototypeList, class Policies>
using HeterDispatcherWithMixins =
    typename WithMixins<HeterEventDispatcherBase<Event, PrototypeList, Policies, void>,
                        typename MixinsOf<Policies>::type>::type;

}  // namespace internal

template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventDispatcher
    : public internal::HeterDispatcherWithMixins<Event, PrototypeList, Policies> {};

}  // namespace eventpp

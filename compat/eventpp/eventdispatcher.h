// SPDX-License-Identifier: MIT
//
// eventpp's EventDispatcher: listeners by event, called at once.
//
//   eventpp::EventDispatcher<int, void(const std::string&)> dispatcher;
//   dispatcher.appendListener(3, [](const std::string& s) { ... });
//   dispatcher.dispatch(3, "hello");
//
// For: programs written against eventpp. Not for: new ones, see handoff::EventDispatcher.
// Concurrency, order, blocking, allocation, exceptions, handles, copies: as in CallbackList, event
// by event. With the default policies a dispatch takes no lock; an own Map or an event without
// std::hash costs a mutex for the look into the map.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <type_traits>
#include <utility>

#include <eventpp/eventpolicies.h>
#include <eventpp/internal/locked_table.hpp>
#include <eventpp/internal/mixins.hpp>
#include <eventpp/internal/pass_table.hpp>
#include <eventpp/internal/policies.hpp>

namespace eventpp {
namespace internal {

// `Bottom` is what the mixins stand on: this class, or a queue made of it (void: this class).
template <class Event_, class Prototype_, class Policies_, class Bottom>
class EventDispatcherBase;

template <class Event_, class R, class... Args, class Policies_, class Bottom>
class EventDispatcherBase<Event_, R(Args...), Policies_, Bottom> {
  static_assert((!std::is_rvalue_reference_v<Args> && ...),
                "listeners share the arguments, so none of them may be moved from");

 public:
  using Event = Event_;
  using Prototype = R(Args...);
  using Policies = Policies_;
  using Threading = typename ThreadingOf<Policies>::type;
  using Mutex = typename Threading::Mutex;
  using Callback = typename CallbackOf<Policies, Prototype>::type;

 protected:
  static constexpr bool kNoLock =
      NoLockSeen<Threading> && Hashable<Event> && !HasMap<Policies, Event>;
  using Table = std::conditional_t<kNoLock, PassTable<Policies, Event, Callback, R, Args...>,
                                   LockedTable<Policies, Event, R, Args...>>;
  using Passing = typename ArgumentPassingOf<Policies>::type;

 public:
  using Handle = typename Table::Handle;

  void swap(EventDispatcherBase& other) noexcept { table_.swap(other.table_); }

  template <class F = Callback>
  Handle appendListener(const Event& event, F&& listener) {
    return table_.add(event, std::forward<F>(listener), AddedAt::back);
  }
  template <class F = Callback>
  Handle prependListener(const Event& event, F&& listener) {
    return table_.add(event, std::forward<F>(listener), AddedAt::front);
  }
  // Behind all others if `before` does not listen to this event here.
  template <class F = Callback>
  Handle insertListener(const Event& event, F&& listener, const Handle& before) {
    return table_.add(event, std::forward<F>(listener), AddedAt::before, before);
  }

  bool removeListener(const Event& event, const Handle& handle) {
    return table_.remove(event, handle);
  }
  bool hasAnyListener(const Event& event) const { return table_.has(event); }
  bool ownsHandle(const Event& event, const Handle& handle) const {
    return table_.owns(event, handle);
  }

  // func(handle, callback) or func(callback) for each; it may add and remove.
  template <class Func>
  void forEach(const Event& event, Func&& func) const {
    table_.visit(event, [&](const Handle& handle, const Callback& callback) {
      visit_with(func, handle, callback);
      return true;
    });
  }
  // Until it says false; whether it never did.
  template <class Func>
  bool forEachIf(const Event& event, Func&& func) const {
    return table_.visit(event, [&](const Handle& handle, const Callback& callback) {
      return static_cast<bool>(visit_with(func, handle, callback));
    });
  }

  // The event is one of the arguments, or in them, as getEvent says.
  void dispatch(Args... args) const
    requires(Passing::canIncludeEventType && sizeof...(Args) > 0)
  {
    deliver(event_of<Policies>(args...), args...);
  }
  // The event, or what getEvent finds it in, stands before the arguments.
  template <class T>
    requires(Passing::canExcludeEventType)
  void dispatch(T&& first, Args... args) const {
    deliver(event_of<Policies>(first, args...), args...);
  }
  // To the listeners of this event, whatever getEvent would say.
  void directDispatch(const Event& event, Args... args) const { deliver(event, args...); }

 protected:
  using MixinBase = std::conditional_t<std::is_void_v<Bottom>, EventDispatcherBase, Bottom>;

  // Mixins first, then the listeners, each with the same arguments as lvalues.
  void deliver(const Event& event, std::remove_reference_t<Args>&... args) const {
    if (may_pass(args...)) table_.dispatch(event, args...);
  }
  bool may_pass(std::remove_reference_t<Args>&... args) const {
    using Ask = AskMixins<MixinBase, typename MixinsOf<Policies>::type>;
    return Ask::ask(static_cast<const MixinBase&>(*this), args...);
  }

  auto listeners() const
    requires requires(const Table& table) { table.hub(); }
  {
    return table_.hub();
  }

 private:
  Table table_;
};

template <class Event, class Prototype, class Policies>
using DispatcherWithMixins =
    typename WithMixins<EventDispatcherBase<Event, Prototype, Policies, void>,
                        typename MixinsOf<Policies>::type>::type;

}  // namespace internal

template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventDispatcher : public internal::DispatcherWithMixins<Event, Prototype, Policies> {
 public:
  friend void swap(EventDispatcher& a, EventDispatcher& b) noexcept { a.swap(b); }
};

}  // namespace eventpp

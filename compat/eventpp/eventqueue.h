// SPDX-License-Identifier: MIT
//
// eventpp's EventQueue: an EventDispatcher whose events may wait.
//
//   eventpp::EventQueue<int, void(const std::string&)> queue;
//   queue.appendListener(3, [](const std::string& s) { ... });
//   queue.enqueue(3, "hello");      // any thread
//   queue.process();                // calls the listeners here
//
// For: programs written against eventpp. Not for: new ones, see handoff::EventQueue.
// Concurrency: any threads enqueue, process, wait, add and remove; the rest as in EventDispatcher.
// - Order: as enqueued, or as an own QueueList says. What is enqueued while process() runs
//   waits for the next one. Two threads that process share the events: each is handled once.
// - Blocks: wait(), waitFor(), until something can be processed; on the queue's mutex for moments.
// - Allocates: enqueue(). Throws: enqueue(), and the processing calls what a listener throws: its
//   event is gone, all others stay in the queue.
// - Arguments are kept by value. Copies and moves of a queue take the listeners, never the events.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it,
// with the visitors of its optimised fork.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <eventpp/eventdispatcher.h>
#include <eventpp/internal/locked_store.hpp>
#include <eventpp/internal/pass_store.hpp>
#include <eventpp/internal/queue_body.hpp>
#include <eventpp/internal/queued_event.hpp>

namespace eventpp {
namespace internal {

template <class Policies, class Event, class R, class... Args>
using StoreOf =
    std::conditional_t<NoQueueSeen<Policies, Event>, PassStore<Policies, Event, R, Args...>,
                       LockedStore<Policies, Event, Args...>>;

template <class Event, class Prototype, class Policies>
class EventQueueBase;

template <class Event_, class R, class... Args, class Policies_>
class EventQueueBase<Event_, R(Args...), Policies_>
    : public QueueBody<EventDispatcherBase<Event_, R(Args...), Policies_,
                                           EventQueueBase<Event_, R(Args...), Policies_>>,
                       StoreOf<Policies_, Event_, R, Args...>> {
  using Dispatcher = EventDispatcherBase<Event_, R(Args...), Policies_, EventQueueBase>;
  using Body = QueueBody<Dispatcher, StoreOf<Policies_, Event_, R, Args...>>;

 public:
  using Event = Event_;
  using QueuedEvent = internal::QueuedEvent<Event, Args...>;

  // The event is one of the arguments, or in them, as getEvent says.
  template <class... A>
    requires(Dispatcher::Passing::canIncludeEventType && sizeof...(A) == sizeof...(Args) &&
             sizeof...(A) > 0)
  void enqueue(A&&... args) {
    store_.put(Event(event_of<Policies_>(args...)), std::forward<A>(args)...);
  }
  // The event, or what getEvent finds it in, stands before the arguments.
  template <class T, class... A>
    requires(Dispatcher::Passing::canExcludeEventType && sizeof...(A) == sizeof...(Args))
  void enqueue(T&& first, A&&... args) {
    store_.put(Event(event_of<Policies_>(first, args...)), std::forward<A>(args)...);
  }

  // Each of these says whether it handled an event.
  bool process() { return process(false); }
  bool processOne() { return process(true); }
  // Those for which predicate(arguments...), or predicate(), is true; the others stay.
  template <class Predicate>
  bool processIf(Predicate&& predicate) {
    return store_.process_if(asked(predicate), to_listeners());
  }
  // Until the predicate is true for an event, which stays, as do those behind it.
  template <class Predicate>
  bool processUntil(Predicate&& predicate) {
    return store_.process_until(asked(predicate), to_listeners());
  }

  // To visitor(event, arguments...) instead of the mixins and listeners.
  template <class Visitor>
  bool processQueueWith(Visitor&& visitor) {
    return store_.process(false, without_result(visitor));
  }
  template <class Visitor>
  bool processOneWith(Visitor&& visitor) {
    return store_.process(true, without_result(visitor));
  }

  // A copy of the first event, which stays; false: there is none.
  bool peekEvent(QueuedEvent* to) const { return store_.peek(*to); }
  // The first event itself.
  bool takeEvent(QueuedEvent* to) { return store_.take(*to); }

  using Dispatcher::dispatch;
  void dispatch(QueuedEvent& event) const {
    std::apply([&](auto&... args) { this->deliver(event.event, args...); }, event.arguments);
  }
  void dispatch(QueuedEvent&& event) const { dispatch(event); }
  // A copy of it only where listeners may change the arguments.
  void dispatch(const QueuedEvent& event) const {
    if constexpr (std::is_invocable_v<void (*)(Args...), const std::remove_cvref_t<Args>&...>) {
      std::apply([&](const auto&... args) { this->directDispatch(event.event, args...); },
                 event.arguments);
    } else {
      dispatch(QueuedEvent(event));
    }
  }

 private:
  // Where no mixin wants to see the events, the store gives them to the listeners itself.
  bool process(bool only_first) {
    if constexpr (std::is_same_v<typename MixinsOf<Policies_>::type, MixinList<>> &&
                  requires { store_.process_to(*this->listeners(), only_first); }) {
      auto* const hub = this->listeners();
      if (hub != nullptr) return store_.process_to(*hub, only_first);
    }
    return store_.process(only_first, to_listeners());
  }

  template <class Visitor>
  static auto without_result(Visitor& visitor) {
    return [&visitor](const Event& event, std::remove_cvref_t<Args>&... args) {
      static_cast<void>(visitor(event, args...));
    };
  }

  auto to_listeners() {
    return [this](const Event& event, auto&... args) { this->deliver(event, args...); };
  }

  template <class Predicate>
  static auto asked(Predicate& predicate) {
    return [&predicate](std::remove_cvref_t<Args>&... args) {
      if constexpr (std::is_invocable_v<Predicate&, std::remove_cvref_t<Args>&...>) {
        return static_cast<bool>(predicate(args...));
      } else {
        return static_cast<bool>(predicate());
      }
    };
  }

  using Body::store_;
};

template <class Event, class Prototype, class Policies>
using QueueWithMixins = typename WithMixins<EventQueueBase<Event, Prototype, Policies>,
                                            typename MixinsOf<Policies>::type>::type;

}  // namespace internal

template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public internal::QueueWithMixins<Event, Prototype, Policies> {
 public:
  friend void swap(EventQueue& a, EventQueue& b) noexcept { a.swap(b); }
};

}  // namespace eventpp

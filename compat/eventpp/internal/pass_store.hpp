// SPDX-License-Identifier: MIT
//
// The events of a queue whose policies leave list and locking to us: a handoff::EventQueue, used
// for its events alone.
//
// Not for: users. Concurrency, blocking, allocation: as handoff::EventQueue.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include <handoff/core/status.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/event/next.hpp>

#include <eventpp/internal/policies.hpp>
#include <eventpp/internal/queued_event.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace eventpp::internal {

template <class Policies, class Event, class R, class... Args>
class PassStore {
  struct Events : handoff::EventQueue<Event, R(Args...), NativePolicies<Policies, Event>> {
    using Queue = handoff::EventQueue<Event, R(Args...), NativePolicies<Policies, Event>>;
    using Queue::drain_to;
    using Queue::held;
    using Queue::wait_told;
  };
  using Queued = QueuedEvent<Event, Args...>;

 public:
  template <class... A>
  void put(Event&& event, A&&... args) {
    // Neither full nor closed, ever.
    (void)events_.enqueue(std::move(event), std::forward<A>(args)...);
  }

  // These call handle(event, arguments&...) for events that leave the queue, and say whether there
  // was one.
  template <class Handle>
  bool process(bool only_first, Handle&& handle) {
    return events_.drain(handle, only_first ? 1 : kAll) != 0;
  }
  // The same to the listeners of a hub, which the queue remembers from event to event.
  template <class Hub>
  bool process_to(Hub& hub, bool only_first) {
    return events_.drain_to(hub, only_first ? 1 : kAll) != 0;
  }
  template <class Predicate, class Handle>
  bool process_if(Predicate&& predicate, Handle&& handle) {
    return drain(predicate, Next::take, Next::leave, handle);
  }
  template <class Predicate, class Handle>
  bool process_until(Predicate&& predicate, Handle&& handle) {
    return drain(predicate, Next::stop, Next::take, handle);
  }

  void clear() { events_.clear(); }
  bool take(Queued& to) { return put_into(to, events_.take()); }
  bool peek(Queued& to) { return put_into(to, events_.peek()); }

  // Neither an event in the queue nor one being handled.
  bool idle() noexcept { return events_.empty() && events_.tally().pending == 0; }

  // Until there is an event to process and nobody holds notifications back.
  void wait() { (void)events_.wait_told(); }
  // The same for so long at most; then whether nobody does and the queue is not idle.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& time) {
    if (events_.wait_told(time) == handoff::Status::ok) return true;
    return !events_.held() && !idle();
  }

  // While one of these lives put() wakes nobody.
  class Hold {
   public:
    explicit Hold(PassStore& store) noexcept : hold_(store.events_) {}

   private:
    typename Events::NotificationHold hold_;
  };

 private:
  using Next = handoff::Next;
  static constexpr std::size_t kAll = ~std::size_t{0};

  // What the predicate says decides. If it throws, its event stays, as do those behind it.
  template <class Predicate, class Handle>
  bool drain(Predicate& predicate, Next if_true, Next if_false, Handle& handle) {
    std::exception_ptr thrown;
    const auto decide = [&](auto&... args) {
      try {
        return predicate(args...) ? if_true : if_false;
      } catch (...) {
        thrown = std::current_exception();
        return Next::stop;
      }
    };
    const std::size_t count = events_.drain([&](const Event& event, auto&... args) {
      const Next next = decide(args...);
      if (next == Next::take) handle(event, args...);
      return next;
    });
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return count != 0;
  }

  static bool put_into(Queued& to, std::optional<typename Events::Event> event) {
    if (!event) return false;
    to.event = std::move(event->key);
    to.arguments = std::move(event->arguments);
    return true;
  }

  Events events_;
};

}  // namespace eventpp::internal

#pragma pop_macro("Status")

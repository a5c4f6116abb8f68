// SPDX-License-Identifier: MIT
//
// The events of a queue whose policies leave list and locking to us: a handoff::EventQueue, used
// for its events alone.
//
// Not for: users. Concurrency, blocking, allocation: as handoff::EventQueue.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include <handoff/core/status.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/sync/clock.hpp>

#include <eventpp/internal/policies.hpp>
#include <eventpp/internal/queued_event.hpp>

namespace eventpp::internal {

template <class Policies, class Event, class R, class... Args>
class PassStore {
  struct Events : handoff::EventQueue<Event, R(Args...), NativePolicies<Policies, Event>> {
    using Queue = handoff::EventQueue<Event, R(Args...), NativePolicies<Policies, Event>>;
    using Queue::held;
    using Queue::process_to;
    using Queue::wait_until_told;
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
    if (only_first) return events_.process_one_with(handle);
    return events_.process_with(handle) != 0;
  }
  // The same to the listeners of a hub, which the queue remembers from event to event.
  template <class Hub>
  bool process_to(Hub& hub, bool only_first) {
    return (only_first ? events_.process_to(hub, 1) : events_.process_to(hub)) != 0;
  }
  template <class Predicate, class Handle>
  bool process_if(Predicate&& predicate, Handle&& handle) {
    return events_.process_if_with(without_event(predicate), handle) != 0;
  }
  template <class Predicate, class Handle>
  bool process_until(Predicate&& predicate, Handle&& handle) {
    return events_.process_until_with(without_event(predicate), handle) != 0;
  }

  void clear() { events_.clear(); }
  bool take(Queued& to) { return put_into(to, events_.take()); }
  bool peek(Queued& to) { return put_into(to, events_.peek()); }

  // Neither an event in the queue nor one being handled.
  bool idle() noexcept { return events_.empty() && events_.tally().pending == 0; }

  // Until there is an event to process and nobody holds notifications back.
  void wait() { (void)events_.wait_until_told(handoff::sync::no_deadline); }
  // The same for so long at most; then whether nobody does and the queue is not idle.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& time) {
    const handoff::sync::Deadline deadline = handoff::sync::deadline_after(time);
    if (events_.wait_until_told(deadline) == handoff::Status::ok) return true;
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
  // A predicate of the arguments, where event/ would give it the event too.
  template <class Predicate>
  static auto without_event(Predicate& predicate) {
    return [&predicate](const Event&, const std::remove_cvref_t<Args>&... args) {
      return predicate(const_cast<std::remove_cvref_t<Args>&>(args)...);
    };
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

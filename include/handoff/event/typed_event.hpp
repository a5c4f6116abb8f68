// SPDX-License-Identifier: MIT
//
// Event types that know their key, so that you need not name both.
//
//   struct Click {
//     static constexpr Kind key = Kind::click;
//     int x = 0;
//     int y = 0;
//   };
//   handoff::EventQueue<Kind, void(const handoff::AnyData<>&)> queue;
//   handoff::listen_to<Click>(queue, [](const Click& click) { ... });
//   handoff::Status s = handoff::enqueue_event<Click>(queue, 3, 4);
//
// For: dispatchers and queues whose only argument is the event, a box for any event, or a reference
// to their common base. Not for: a key that depends on the event's value (Policies::get_key).
// All else is as in the dispatcher or the queue; argument_adapter.hpp says how the argument becomes
// the event.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/event/argument_adapter.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/listener_options.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// Adds a listener for the events of this type.
template <class Event, class Target, class F>
ListenerHandle listen_to(Target& target, F&& function, ListenerOptions options = {}) {
  return target.append_listener(Event::key, adapt<void(const Event&)>(std::forward<F>(function)),
                                options);
}

// Makes an event of this type and dispatches it.
template <class Event, class Dispatcher, class... Args>
void dispatch_event(const Dispatcher& dispatcher, Args&&... args) {
  Event event{std::forward<Args>(args)...};
  if constexpr (requires { dispatcher.dispatch(Event::key, std::move(event)); }) {
    dispatcher.dispatch(Event::key, std::move(event));
  } else {  // to listeners that may change it
    dispatcher.dispatch(Event::key, event);
  }
}

// Makes an event of this type in the queue: ok, full or closed.
template <class Event, class Queue, class... Args>
Status enqueue_event(Queue& queue, Args&&... args) {
  return queue.enqueue(Event::key, Event{std::forward<Args>(args)...});
}

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

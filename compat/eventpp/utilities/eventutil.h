// SPDX-License-Identifier: MIT
//
// eventpp's helpers that find a listener by the callback itself.
//
//   eventpp::removeListener(dispatcher, 3, callback);
//
// For: programs written against eventpp whose Callback policy can be compared by ==. Not for: new
// ones, see find_listener() in handoff/event/. Cost: O(n). hasAnyListener() compares nothing.
// Concurrency: as the target's; a thread that adds or removes at the same time may make the answer
// old.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

namespace eventpp {
namespace internal {

// The first of a list or an event that equals `callback`; an empty handle: none.
template <class Target, class Callback, class... Event>
typename Target::Handle find_callback(const Target& target, const Callback& callback,
                                      const Event&... event) {
  typename Target::Handle found;
  target.forEachIf(event..., [&](const auto& handle, const auto& one) {
    if (one == callback) found = handle;
    return !found;
  });
  return found;
}

}  // namespace internal

// Removes the first that equals `listener`; whether there was one.
template <class Dispatcher>
bool removeListener(Dispatcher& dispatcher, const typename Dispatcher::Event& event,
                    const typename Dispatcher::Callback& listener) {
  return dispatcher.removeListener(event, internal::find_callback(dispatcher, listener, event));
}
template <class List>
bool removeListener(List& list, const typename List::Callback& callback) {
  return list.remove(internal::find_callback(list, callback));
}

template <class Dispatcher>
bool hasListener(const Dispatcher& dispatcher, const typename Dispatcher::Event& event,
                 const typename Dispatcher::Callback& listener) {
  return static_cast<bool>(internal::find_callback(dispatcher, listener, event));
}
template <class List>
bool hasListener(const List& list, const typename List::Callback& callback) {
  return static_cast<bool>(internal::find_callback(list, callback));
}

template <class Dispatcher>
bool hasAnyListener(const Dispatcher& dispatcher, const typename Dispatcher::Event& event) {
  return dispatcher.hasAnyListener(event);
}
template <class List>
bool hasAnyListener(const List& list) {
  return !list.empty();
}

}  // namespace eventpp

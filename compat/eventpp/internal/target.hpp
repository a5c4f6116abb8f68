// SPDX-License-Identifier: MIT
//
// What the removers have to know about a list or a dispatcher: how to take away what was added.
//
// Not for: users.
#pragma once

#include <type_traits>

namespace eventpp::internal {

template <class T>
struct Target {  // lists
  struct Note {
    typename T::Handle handle;
    bool remove_from(T& target) const { return target.remove(handle); }
  };
  static Note note(const typename T::Handle& handle) { return {handle}; }
};

template <class T>
  requires requires { typename T::Event; }
struct Target<T> {  // dispatchers and queues
  struct Note {
    typename T::Handle handle;
    typename T::Event event;
    bool remove_from(T& target) const { return target.removeListener(event, handle); }
  };
  template <class Event, class... Rest>
  static Note note(const typename T::Handle& handle, const Event& event, const Rest&...) {
    return {handle, event};
  }
};

}  // namespace eventpp::internal

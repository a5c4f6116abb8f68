// SPDX-License-Identifier: MIT
//
// An event in a queue, and the item of a queue's list that holds one or none.
//
// Not for: users, but for QueuedEvent, which is EventQueue::QueuedEvent.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eventpp::internal {

template <class EventType, class... Args>
struct QueuedEvent {
  EventType event;
  std::tuple<std::remove_cvref_t<Args>...> arguments;

  EventType getEvent() const { return event; }
  template <std::size_t N>
  const std::tuple_element_t<N, decltype(arguments)>& getArgument() const {
    return std::get<N>(arguments);
  }
};

// What the QueueList policy gets as its Item: it is made empty, filled, and moved by splicing only.
template <class Event>
class QueueItem {
 public:
  void set(Event&& event) { event_.emplace(std::move(event)); }
  Event& get() { return *event_; }
  const Event& get() const { return *event_; }
  void clear() { event_.reset(); }

 private:
  std::optional<Event> event_;
};

}  // namespace eventpp::internal

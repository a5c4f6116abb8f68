// SPDX-License-Identifier: MIT
//
// Events of several signatures in one queue, in one order.
//
//   handoff::HeterEventQueue<Key, handoff::Signatures<void(Point), void(std::string)>> queue;
//   queue.append_listener(Key::click, [](Point where) { ... });
//   queue.append_listener(Key::text, [](const std::string& text) { ... });
//   queue.enqueue(Key::click, Point{3, 4});      // any thread
//   queue.enqueue(Key::text, "hello");
//   queue.process();                             // in the order in which they were enqueued
//
// For: events whose kinds carry different arguments, where their order counts. Not for: one
// signature (EventQueue); payloads that the queue need not know (EventQueue of AnyData).
//
// Contract: deferred tier, that of EventQueue: concurrency, order across all signatures, blocking,
// allocation, what is full or closed, exceptions, destruction. As a dispatcher it is a
// HeterEventDispatcher; filters of a signature see its events when they are processed.
// - An event takes as much room as the largest of the signatures' arguments.
// - Policies::priority, where there is one, is asked with the key and a std::variant of the
//   signatures' tuples.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <handoff/config.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/event/heter_event_dispatcher.hpp>
#include <handoff/event/signatures.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Key, class AllSignatures, class Policies = EventPolicies>
class HeterEventQueue;

template <class Key, class... All, class Policies>
class HeterEventQueue<Key, Signatures<All...>, Policies>
    : public HeterEventDispatcher<Key, Signatures<All...>, Policies> {
  using Dispatcher = HeterEventDispatcher<Key, Signatures<All...>, Policies>;
  using Choice = typename Dispatcher::Choice;

 public:
  // The arguments of an event, and by its index the signature.
  using Arguments = std::variant<typename detail::SignatureTraits<All>::Stored...>;

  // One taken out of the queue.
  struct Event {
    Key key;
    Arguments arguments;
  };

  using Dispatcher::dispatch;

  explicit HeterEventQueue(const EventQueueOptions& options = {}) : queue_(options) {}

  // ok, full or closed.
  template <class K, class... Args>
  Status enqueue(K&& key, Args&&... args) {
    constexpr std::size_t index = Choice::template of_call<Args...>();
    return queue_.enqueue(std::forward<K>(key),
                          Making<index, Args...>{{std::forward<Args>(args)...}});
  }

  // Calls the listeners for what is in the queue; returns how many events that were.
  std::size_t process() { return queue_.process_with(delivery()); }
  bool process_one() { return queue_.process_one_with(delivery()); }

  // Only those for which `predicate(key, args...)`, `predicate(args...)` or `predicate()` is true;
  // the others stay, in their places, and so do those of signatures that it cannot be asked with.
  template <class Predicate>
  std::size_t process_if(Predicate&& predicate) {
    return queue_.process_if_with(asked(predicate), delivery());
  }

  // Until the predicate is true for an event, which stays, as do those behind it. Events of
  // signatures that it cannot be asked with do not end it.
  template <class Predicate>
  std::size_t process_until(Predicate&& predicate) {
    return queue_.process_until_with(asked(predicate), delivery());
  }

  // A copy of the first event, which stays.
  std::optional<Event> peek()
    requires std::is_copy_constructible_v<Arguments>
  {
    return event_of(queue_.peek());
  }
  // The first event itself.
  std::optional<Event> take() { return event_of(queue_.take()); }
  // Calls the listeners for an event that was taken.
  void dispatch(Event& event) const { deliver(event.key, event.arguments); }
  void dispatch(Event&& event) const { dispatch(event); }

  // As their namesakes in EventQueue.
  Status wait(const sync::StopToken& stop = {}) { return queue_.wait(stop); }
  template <class Rep, class Period>
  Status wait_for(std::chrono::duration<Rep, Period> time, const sync::StopToken& stop = {}) {
    return queue_.wait_for(time, stop);
  }
  Status wait_until(sync::Deadline deadline, const sync::StopToken& stop = {}) {
    return queue_.wait_until(deadline, stop);
  }
  std::size_t clear() { return queue_.clear(); }
  bool empty() const noexcept { return queue_.empty(); }
  Tally close() noexcept { return queue_.close(); }
  bool closed() const noexcept { return queue_.closed(); }
  Tally tally() noexcept { return queue_.tally(); }
  void trim() { queue_.trim(); }

 private:
  // Becomes the arguments of an event in its place: before that, a refused event has lost nothing.
  template <std::size_t Index, class... Args>
  struct Making {
    std::tuple<Args&&...> from;

    operator Arguments() && {  // NOLINT(google-explicit-constructor)
      return std::apply(
          [](Args&&... args) {
            return Arguments(std::in_place_index<Index>, std::forward<Args>(args)...);
          },
          std::move(from));
    }
  };

  // Calls `function(index, args...)` with what an event holds, by the number of its signature.
  template <class Held, class Function>
  static void with_arguments(Held& held, Function&& function) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto call = [&](auto index) {
        if (held.index() != index) return false;
        std::apply([&](auto&... args) { function(index, args...); }, *std::get_if<index>(&held));
        return true;
      };
      (void)(call(std::integral_constant<std::size_t, I>()) || ...);
    }(std::index_sequence_for<All...>());
  }

  // What to ask of an event as it waits; false where that cannot be asked.
  template <class Predicate>
  static auto asked(Predicate& predicate) noexcept {
    return [&predicate](const Key& key, const Arguments& arguments) {
      bool answer = false;
      with_arguments(arguments, [&](auto, const auto&... args) {
        if constexpr (std::is_invocable_v<Predicate&, const Key&, decltype(args)...>) {
          answer = static_cast<bool>(detail::invoke(predicate, key, args...));
        } else if constexpr (std::is_invocable_v<Predicate&, decltype(args)...>) {
          answer = static_cast<bool>(detail::invoke(predicate, args...));
        } else if constexpr (std::is_invocable_v<Predicate&>) {
          answer = static_cast<bool>(detail::invoke(predicate));
        }
      });
      return answer;
    };
  }

  void deliver(const Key& key, Arguments& arguments) const {
    with_arguments(arguments, [&](auto index, auto&... args) {
      std::get<index>(this->dispatchers_).dispatch_in_place(key, args...);
    });
  }
  auto delivery() const noexcept {
    return [this](const Key& key, Arguments& arguments) { deliver(key, arguments); };
  }

  using Queue = EventQueue<Key, void(Arguments), Policies>;
  static std::optional<Event> event_of(std::optional<typename Queue::Event> taken) {
    if (!taken) return {};
    return Event{std::move(taken->key), std::get<0>(std::move(taken->arguments))};
  }

  Queue queue_;
};

}}  // namespace handoff::HANDOFF_ABI

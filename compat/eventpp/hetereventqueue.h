// SPDX-License-Identifier: MIT
//
// eventpp's HeterEventQueue: a HeterEventDispatcher whose events may wait.
//
//   using Prototypes = eventpp::HeterTuple<void(), void(std::string)>;
//   eventpp::HeterEventQueue<int, Prototypes> queue;
//   queue.enqueue(3, "hello");
//   queue.process();
//
// For: programs written against eventpp. Not for: new ones, see handoff::AnyData.
// One order for the events of all prototypes. A predicate is asked about the events of those
// prototypes that it can be called with; the others stay. All else: as in EventQueue and
// HeterEventDispatcher.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <eventpp/eventqueue.h>
#include <eventpp/hetereventdispatcher.h>

namespace eventpp {
namespace internal {

// Events of one order, so the arguments of one are those of any prototype.
template <class... Prototypes>
using AnyArguments = std::variant<typename Takes<Prototypes>::Stored...>;

template <class Event, class PrototypeList, class Policies>
class HeterEventQueueBase;

template <class Event_, class... Prototypes, class Policies_>
class HeterEventQueueBase<Event_, HeterTuple<Prototypes...>, Policies_>
    : public QueueBody<HeterEventDispatcherBase<
                           Event_, HeterTuple<Prototypes...>, Policies_,
                           HeterEventQueueBase<Event_, HeterTuple<Prototypes...>, Policies_>>,
                       StoreOf<Policies_, Event_, void, AnyArguments<Prototypes...>>> {
  using Dispatcher =
      HeterEventDispatcherBase<Event_, HeterTuple<Prototypes...>, Policies_, HeterEventQueueBase>;
  using Body = QueueBody<Dispatcher, StoreOf<Policies_, Event_, void, AnyArguments<Prototypes...>>>;
  using Stored = AnyArguments<Prototypes...>;
  static constexpr std::index_sequence_for<Prototypes...> kAll{};

 public:
  using Event = Event_;

  template <class T, class... Args>
  void enqueue(T&& first, Args&&... args) {
    Event event(event_of<Policies_>(first, args...));
    if constexpr (kPassesEvent<Policies_>) {
      constexpr std::size_t i = Dispatcher::template for_call<T, Args...>();
      store_.put(std::move(event), Stored(std::in_place_index<i>, std::forward<T>(first),
                                          std::forward<Args>(args)...));
    } else {
      constexpr std::size_t i = Dispatcher::template for_call<Args...>();
      store_.put(std::move(event), Stored(std::in_place_index<i>, std::forward<Args>(args)...));
    }
  }

  // Each of these says whether it handled an event.
  bool process() { return store_.process(false, to_listeners()); }
  bool processOne() { return store_.process(true, to_listeners()); }
  template <class Predicate>
  bool processIf(Predicate&& predicate) {
    return store_.process_if(
        [&](Stored& stored) {
          return std::visit(
              [&](auto& arguments) {
                return std::apply([&](auto&... args) { return asked(predicate, args...); },
                                  arguments);
              },
              stored);
        },
        to_listeners());
  }

 private:
  template <class Predicate, class... Args>
  static bool asked(Predicate& predicate, Args&... args) {
    if constexpr (std::is_invocable_v<Predicate&, Args&...>) {
      return static_cast<bool>(predicate(args...));
    } else {
      return false;
    }
  }

  auto to_listeners() {
    return [this](const Event& event, Stored& stored) {
      with_index(kAll, stored.index(), [&](auto i) {
        std::apply([&](auto&... args) { this->template deliver<i>(event, args...); },
                   std::get<i>(stored));
      });
    };
  }

  using Body::store_;
};

template <class Event, class PrototypeList, class Policies>
using HeterQueueWithMixins =
    typename WithMixins<HeterEventQueueBase<Event, PrototypeList, Policies>,
                        typename MixinsOf<Policies>::type>::type;

}  // namespace internal

template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventQueue : public internal::HeterQueueWithMixins<Event, PrototypeList, Policies> {};

}  // namespace eventpp

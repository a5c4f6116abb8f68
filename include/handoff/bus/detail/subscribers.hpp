// SPDX-License-Identifier: MIT
//
// The subscribers of a bus: a list of listeners for each type, those of event/. Not for users.
//
// Concurrency: add() by any thread; a Delivery by the consumer. Allocates: the constructor and
// add(). Throws: both, std::bad_alloc.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/bus/detail/message_handlers.hpp>
#include <handoff/bus/detail/message_types.hpp>
#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/internal/listener_access.hpp>
#include <handoff/event/internal/listener_function.hpp>
#include <handoff/event/internal/listener_pass.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/event/listener_options.hpp>
#include <handoff/memory/internal/epochs.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Meta, class... Messages>
class Subscribers {
  using Types = MessageTypes<Messages...>;
  template <class T>
  using Functions = ListenerFunctions<void, const T&, const SharedMeta<Meta>&>;

 public:
  Subscribers() : Subscribers(nullptr) {  // made from here on: what follows may throw
    for (ListenerList*& list : lists_) list = ListenerList::make(this);
  }
  ~Subscribers() {
    Garbage garbage;
    for (ListenerList* const list : lists_) {
      if (list != nullptr) list->close(garbage);
    }
  }
  Subscribers(const Subscribers&) = delete;
  Subscribers& operator=(const Subscribers&) = delete;

  // `passes(meta)`: whether the message is one for it; meta() is its Meta.
  template <class T, class Passes, class F>
  ListenerHandle add(Passes&& passes, F&& function, const ListenerOptions& options) {
    using Function = std::decay_t<F>;
    static_assert(Types::template kHas<T>, "subscribe: this type is none of the bus's messages");
    static_assert(kHandles<Function, const T, Meta>,
                  "a subscriber takes the message, which it shares with others and so is const; "
                  "then its meta data, or sequence and end of batch");
    if (is_empty_function(function)) {
      misuse("an empty function was subscribed; test it first");
    }
    auto listener = Functions<T>::make(
        [passes = std::forward<Passes>(passes), handler = Function(std::forward<F>(function))](
            const T& message, const SharedMeta<Meta>& meta) mutable {
          if (passes(meta)) call_handler<Meta>(handler, message, meta);
        },
        options);
    Garbage garbage;
    lists_[Types::template index<T>()]->add(listener, AddedAt::back, nullptr, garbage);
    return ListenerAccess::handle(std::move(listener));
  }

  // Whether there is one, of any type.
  bool any() const noexcept {
    for (const ListenerList* const list : lists_) {
      if (!list->empty()) return true;
    }
    return false;
  }

  // A number of messages to the subscribers that there are.
  class Delivery {
   public:
    explicit Delivery(const Subscribers& subscribers)
        : subscribers_(subscribers), pass_(&subscribers) {}

    // remove_and_wait() waits for at most the current message.
    template <class T, class MakeMeta>
    void operator()(const T& message, const MakeMeta& meta) {
      pass_.renew(&subscribers_);
      const ListenerList& list = *subscribers_.lists_[Types::template index<T>()];
      if (list.empty()) return;
      const SharedMeta<Meta> shared(meta);
      ListenerPass<const T&, const SharedMeta<Meta>&>::template run_all<void, EventPolicies>(
          list, message, shared);
    }

   private:
    const Subscribers& subscribers_;
    Pass pass_;
  };

 private:
  explicit Subscribers(std::nullptr_t /*none*/) noexcept {}

  ListenerList* lists_[Types::kCount] = {};
};

}}}  // namespace handoff::HANDOFF_ABI::detail

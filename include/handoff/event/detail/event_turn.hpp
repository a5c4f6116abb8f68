// SPDX-License-Identifier: MIT
//
// One draining call on an event queue: takes events from the store one by one and gives them to the
// listeners of a hub, or to a visitor. Not for: users.
//
// It keeps the store alive should a listener destroy the queue. Its pass begins anew for each
// event, or stays where the last events were: see list_for().
// Concurrency: of its thread alone; the store and the hub are those of all.
// Exceptions: one from a listener or a visitor ends the call. Its event counts as failed; what was
// not reached goes back to the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <tuple>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/event/detail/event_store.hpp>
#include <handoff/event/internal/event_hub.hpp>
#include <handoff/event/next.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/internal/fence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Result>
concept VisitorResult = std::is_void_v<Result> || std::is_same_v<Result, Next>;
template <class F, class... A>
concept Visits = std::is_invocable_v<F&, A...> && VisitorResult<std::invoke_result_t<F&, A...>>;
template <class F, class... A>
concept Chooses =
    std::is_invocable_v<F&, A...> && std::is_same_v<std::invoke_result_t<F&, A...>, Next>;

template <class Key, class Policies, class R, class... Args>
class EventTurn {
 public:
  // What show() and ask() can be given.
  template <class Visitor>
  static constexpr bool kShows = Visits<Visitor, const Key&, std::decay_t<Args>&...>;
  template <class Chooser>
  static constexpr bool kAsks = Chooses<Chooser, const Key&, const std::decay_t<Args>&...> ||
                                Chooses<Chooser, const std::decay_t<Args>&...> || Chooses<Chooser>;

  using Hub = EventHub<Key, Policies, R, Args...>;
  using Store = EventStore<Key, Policies, Args...>;
  using Slot = typename Store::Slot;

  EventTurn(Store& store, Hub& hub, std::size_t most)
      : store_(store), hub_(hub), alive_(&store), pass_(&hub), session_(store, most) {}
  EventTurn(const EventTurn&) = delete;
  EventTurn& operator=(const EventTurn&) = delete;

  // Gives each event to `each(turn, slot)`, which says what becomes of it. Returns how many are
  // taken.
  template <class Each>
  std::size_t run(Each&& each) {
    std::size_t count = 0;
    while (Slot* const slot = session_.next()) {
      const Next next = watched(each, *slot);
      if (next == Next::stop) break;
      if (next == Next::take) {
        session_.done();
        ++count;
      } else {
        session_.refuse();
      }
      if (store_.ended()) break;
    }
    return count;
  }

  // To the listeners.
  Next deliver(Slot& slot) {
    attempt([&] {
      std::apply(
          [&](auto&... args) {
            ListenerList* const list = list_for(slot.key(), args...);
            if (list != nullptr) hub_.call(*list, args...);
          },
          slot.arguments());
    });
    return Next::take;
  }

  // To the visitor, after the filters.
  template <class Visitor>
  Next show(Visitor& visitor, Slot& slot) {
    Next next = Next::take;
    attempt([&] {
      std::apply(
          [&](auto&... args) {
            if (hub_.has_filters()) {
              pass_.renew(&hub_);
              if (!hub_.filter(args...)) return;
            }
            next = show_with(visitor, slot.key(), args...);
          },
          slot.arguments());
    });
    return next;
  }

  template <class Chooser>
  static Next ask(Chooser& chooser, const Slot& slot) {
    return std::apply([&](const auto&... args) { return ask_with(chooser, slot.key(), args...); },
                      slot.arguments());
  }

 private:
  // The lists of the last keys, by their low bits, for keys that are copied and compared at once.
  static constexpr bool kRemembersKeys = std::is_integral_v<Key> || std::is_enum_v<Key>;
  struct Remembered {
    struct Entry {
      ListenerList* list = nullptr;
      std::conditional_t<kRemembersKeys, Key, Nothing<0>> key{};
    };
    Entry entries[kRemembersKeys ? 16 : 1];
    std::uint64_t epoch = 0;  // in which all of them were found, or an older one
    ListenerList* current = nullptr;  // that the pass is over; null: it is over the hub
  };

  // each(slot), seen by the recorder.
  template <class Each>
  Next watched(Each& each, Slot& slot) {
    const probe::Slice slice(probe::Kind::event, type_name<void(Key, Args...)>(), &slot);
    return each(*this, slot);
  }

  // An event whose listener throws is gone, and in the books as failed.
  template <class Call>
  void attempt(Call&& call) {
#if defined(__cpp_exceptions)
    try {
      call();
    } catch (...) {
      session_.failed(std::current_exception());
      throw;
    }
#else
    call();
#endif
  }

  // The listeners of an event, in a pass over them; null: it has none, or a filter says no.
  template <class... A>
  ListenerList* list_for(const Key& key, A&... args) {
    if constexpr (!kRemembersKeys) {
      pass_.renew(&hub_);
      return hub_.select(pass_, key, args...);
    } else {
      auto& entry = known_.entries[static_cast<std::size_t>(key) % std::size(known_.entries)];
      if (entry.list != nullptr && entry.key == key && !hub_.has_filters() && pass_over(entry.list))
          [[likely]] {
        return entry.list;
      }
      return look_up(entry, key, args...);
    }
  }

  // Whether the pass is over this list, which was found when nothing was hidden that is hidden now.
  bool pass_over(ListenerList* list) noexcept {
    if (list != known_.current) {
      pass_.narrow(list);
      known_.current = list;
      // The partner of the heavy half of a thread that hides something: either that one sees the
      // pass over the list, or this sees that the epoch is another.
      sync::asymmetric_fence_light();
    }
    // order: relaxed; what was hidden before the event came is seen, the event brought it. What is
    // hidden now finds the pass over the list, whatever this sees.
    return pass_words.epoch.load(sync::order::relaxed) == known_.epoch;
  }

  template <class Entry, class... A>
  ListenerList* look_up(Entry& entry, const Key& key, A&... args) {
    // order: relaxed; of the pass that begins, or older: then the next event looks up again.
    const std::uint64_t epoch = pass_words.epoch.load(sync::order::relaxed);
    pass_.renew(&hub_);
    if (epoch != known_.epoch) known_ = {};
    known_.epoch = epoch;
    entry.list = hub_.select(pass_, key, args...);
    entry.key = key;
    known_.current = entry.list;
    return entry.list;
  }

  template <class Visitor, class... A>
  static Next show_with(Visitor& visitor, const Key& key, A&... args) {
    if constexpr (Chooses<Visitor, const Key&, A&...>) {
      return detail::invoke(visitor, key, args...);
    } else {
      detail::call_and_drop(visitor, key, args...);
      return Next::take;
    }
  }

  template <class Chooser, class... A>
  static Next ask_with(Chooser& chooser, const Key& key, const A&... args) {
    if constexpr (Chooses<Chooser, const Key&, const A&...>) {
      return detail::invoke(chooser, key, args...);
    } else if constexpr (Chooses<Chooser, const A&...>) {
      return detail::invoke(chooser, args...);
    } else {
      return detail::invoke(chooser);
    }
  }

  Store& store_;
  Hub& hub_;
  const Pass alive_;  // ends last: the store may go with it
  Pass pass_;
  typename Store::Session session_;
  Remembered known_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

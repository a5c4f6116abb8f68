// SPDX-License-Identifier: MIT
//
// A place for an event, and for what a queue's policies add to it. Not for: users.
//
// The key stands beside the state, apart from the rest: a small one shares eight bytes with it, and
// a million events through memory take the less time.
// Concurrency: none of its own; EventChunks hands a place from one thread to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/queued_event.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What takes no room. Two members of one type would have two addresses: each has a type of its own.
template <int Member>
struct Nothing {};

template <class Key, class Policies, class... Args>
class EventSlot {
 public:
  using Event = QueuedEvent<Key, Args...>;
  using Arguments = std::tuple<std::decay_t<Args>...>;
  static constexpr bool kOrdered = requires(const Key& key, const std::decay_t<Args>&... args) {
    Policies::priority(key, args...);
  };
  static constexpr bool kExpires = expires<Policies>();

  sync::atomic<std::uint32_t> state{0};  // EventChunks'

  template <class K, class... A>
  void construct(sync::Deadline deadline, K&& key, A&&... args) {
    key_.construct(std::forward<K>(key));
    struct Guard {  // for arguments that cannot be made
      sync::raw_cell<Key>* key;
      ~Guard() {
        if (key != nullptr) key->destroy();
      }
    } guard{&key_};
    rest_.construct(deadline, key_.read(), std::forward<A>(args)...);
    guard.key = nullptr;
  }
  void destroy() noexcept {
    rest_.destroy();
    key_.destroy();
  }

  // The event must be there for these.
  const Key& key() const noexcept { return key_.read(); }
  Arguments& arguments() noexcept { return rest_.write().arguments; }
  const Arguments& arguments() const noexcept { return rest_.read().arguments; }
  int priority() const noexcept {
    if constexpr (kOrdered) return rest_.read().priority;
    return 0;
  }
  bool is_late() const noexcept {
    if constexpr (kExpires) {
      const sync::Deadline deadline = rest_.read().deadline;
      return deadline != sync::no_deadline && deadline <= sync::clock::now();
    }
    return false;
  }
  void copy_to(std::optional<Event>& event) const {
    std::apply([&](const auto&... args) { event.emplace(std::in_place, key(), args...); },
               arguments());
  }
  void move_to(std::optional<Event>& event) {
    std::apply(
        [&](auto&... args) {
          event.emplace(std::in_place, std::move(key_.write()), std::move(args)...);
        },
        arguments());
  }

 private:
  struct Rest {
    template <class... A>
    explicit Rest([[maybe_unused]] sync::Deadline until, [[maybe_unused]] const Key& key,
                  A&&... args)
        : arguments(std::forward<A>(args)...) {
      if constexpr (kExpires) deadline = until;
      if constexpr (kOrdered) {
        priority = std::apply([&](const auto&... each) { return Policies::priority(key, each...); },
                              arguments);
      }
    }

    Arguments arguments;
    [[no_unique_address]] std::conditional_t<kExpires, sync::Deadline, Nothing<0>> deadline{};
    [[no_unique_address]] std::conditional_t<kOrdered, int, Nothing<1>> priority{};
  };

  sync::raw_cell<Key> key_;
  sync::raw_cell<Rest> rest_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

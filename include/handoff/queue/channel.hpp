// SPDX-License-Identifier: MIT
//
// A queue to wait on: pushes wait for room, pops wait for items, both until it is closed.
//
//   Channel<Frame> frames(64);
//   Status s = frames.push(std::move(frame));       // any thread; waits while 64 are under way
//   for (Frame& f : frames) { ... }                 // any thread; until closed and drained
//   std::optional<Frame> next = frames.pop(10ms);   // any thread; waits 10 ms at most
//   std::optional<Frame> now = frames.try_pop();    // any thread; never waits
//   frames.close();                                 // any thread
//
//   UnboundedChannel<Line> log;                     // a push never waits
//   Channel<Frame, SpscRing<Frame>> stage(8);       // one producer, one consumer: the cheapest
//
// For: pipelines, results on their way back, work for threads that wait for it. Not for: tasks (a
// pool runs them); a thread that must not sleep (the rings); a push that waits until its item is
// taken (RendezvousChannel).
// Several channels at once: select.hpp.
//
// Names: those of P0260, C++'s concurrent queues. async_push and async_pop are reserved for
// senders. Tier: transfer. A Channel adds waiting to a queue, `Queue`, by default an MpmcRing. The
// queue decides the order, which threads may push and pop, and what allocates (see there).
// Concurrency: push*, pop*, try_*, consume() and close() as the queue allows (with an SpscRing only
//   the producer may close()); the rest is thread-safe.
// Order: that of the queue. What was done before a push happens before the pop.
// Blocks: push() while full, pop() while empty. They spin for some microseconds where that can
//   help, then sleep, as long as their Until says; without one, for ever. try_* and consume() never
//   block. In a visitor of consume() a push to the same channel says `full` and does not wait.
// Wakes: an item or a free place wakes one thread, if one sleeps.
// Full, closed, stopped, timed out: the item is still the caller's, unmoved; what would have been
//   converted to one has not been.
// Closed: waiting pushes are refused too; pops drain, then return `closed`. close() is idempotent.
// A wait that ends just as an item or a place comes returns `ok`.
// Exceptions: those of the queue; they lose no item.
// Destructor: destroys the items that are left. Close the channel and join its users first: a
//   destructor that runs during another call is misuse, and nothing can report it.
// In a pool's task: wait inside blocking(), or the item that another task of the pool would push
//   may never come.
// Proof: docs/design/channel.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/draining.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/detail/pop_iterator.hpp>
#include <handoff/queue/detail/select_list.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/sync/event_count.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T, class Queue = MpmcRing<T>>
class Channel {
  static_assert(std::is_object_v<T> && std::is_nothrow_move_constructible_v<T>,
                "a channel holds values that move without throwing: mark the move constructor "
                "noexcept, or hold a std::unique_ptr");
  static_assert(Transfer<Queue>, "a channel adds waiting to a queue: a Transfer of its items");
  static constexpr bool kBounded = requires(const Queue& queue) { queue.capacity(); };

 public:
  using value_type = T;

  // At least `capacity` places, as many as the ring makes of it. 0 is misuse; throws
  // std::length_error for more than there can be.
  explicit Channel(std::size_t capacity)
    requires kBounded
      : queue_(capacity) {}

  Channel()
    requires(!kBounded)
  = default;

  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // How many items have room.
  std::size_t capacity() const noexcept
    requires kBounded
  {
    return queue_.capacity();
  }

  // --- Push. ---

  // ok, full or closed.
  Status try_push(T&& item) { return try_emplace(std::move(item)); }
  template <detail::ConvertsToItem<T> From>
  Status try_push(From&& item) {
    return try_emplace(std::forward<From>(item));
  }
  Status try_push(const T& item)
    requires std::copy_constructible<T>
  {
    return pushed(queue_.try_push(item));
  }
  template <class... Args>
  Status try_emplace(Args&&... args) {
    Status status = Status::closed;
    make([&] { status = queue_.try_emplace(std::forward<Args>(args)...); });
    return pushed(status);
  }
  std::size_t try_push_batch(std::span<T> items) {
    const std::size_t count = queue_.try_push_batch(items);
    announce_items(count);
    return count;
  }

  // Waits while the channel is full. ok, closed, timed_out or stopped.
  Status push(T&& item, const Until& until = {}) { return put(until, std::move(item)); }
  Status push(const T& item, const Until& until = {})
    requires std::copy_constructible<T>
  {
    return put(until, T(item));  // a copy that throws does so before any waiting
  }
  template <detail::ConvertsToItem<T> From>
  Status push(From&& item, const Until& until = {}) {
    return put(until, std::forward<From>(item));
  }
  // The same, with the item made of `args` in its place. A limit comes first: emplace(10ms, 1, 2).
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  Status emplace(Args&&... args) {
    return put({}, std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::is_constructible_v<T, Args...>
  Status emplace(const Until& until, Args&&... args) {
    return put(until, std::forward<Args>(args)...);
  }

  // No push that begins after this succeeds. Wakes all waiting threads.
  void close() noexcept {
    queue_.close();
    wake_readers(kAll);
    if constexpr (kBounded) writers_.notify_all();
  }

  // --- Pop. ---

  // ok, empty or closed (and drained).
  Status try_pop(T& out) { return popped(looked(queue_.try_pop(out))); }
  // The same for items that have no empty state to begin with; nothing where that says not ok.
  [[nodiscard]] std::optional<T> try_pop() {
    std::optional<T> item;
    (void)look(item);
    return item;
  }
  std::size_t try_pop_batch(std::span<T> out) {
    const std::size_t count = queue_.try_pop_batch(out);
    announce_places(count);
    if (count == 0) announce_passed_over();
    return count;
  }
  // Calls visitor(T&) on each item, then destroys it; returns how many. At most `most`, and no more
  // than the channel holds, so that it ends while producers go on. Never waits for items.
  template <class Visitor>
    requires std::is_invocable_v<Visitor&, T&>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::size_t limit = detail::min(most, holds());
    const detail::Draining draining(this);
    std::size_t count = 0;
    while (count < limit && visit_one(visitor)) ++count;
    return count;
  }

  // Waits while the channel is empty. ok, closed (and drained), timed_out or stopped.
  Status pop(T& out, const Until& until = {}) {
    return wait_for_item([&] { return looked(queue_.try_pop(out)); }, until);
  }
  // The same for items that have no empty state to begin with; nothing where that says not ok.
  [[nodiscard]] std::optional<T> pop(const Until& until = {}) {
    std::optional<T> item;
    (void)wait_for_item([&] { return take(item); }, until);
    return item;
  }

  // --- Range-for: pops, and ends when the channel is closed and drained. ---

  // Holds the item that was popped last.
  using Iterator = detail::PopIterator<Channel>;
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

  // --- Looks. ---

  // What the queue knows of itself; figures of the moment.
  std::size_t size() const noexcept { return queue_.size(); }
  bool empty() const noexcept { return queue_.empty(); }
  bool closed() const noexcept { return queue_.closed(); }

 private:
  template <class>
  friend struct detail::Books;
  template <class Source, class Handler>
  friend class SelectCase;

  // --- Wake-ups. docs/design/channel.md says why no sleeper is forgotten. ---

  // One sleeper for each item. All of them if the channel is closed: these items may be the last,
  // for which the others must not wait any more.
  void announce_items(std::size_t count) noexcept {
    if (count == 0) return;
    wake_readers(count_of(count));
    // The wake-up's fence came first: a close that a sleeper has seen is seen here.
    if (queue_.closed()) [[unlikely]]
      wake_readers(kAll);
  }

  void wake_readers(std::uint32_t most) noexcept {
    readers_.notify_some(most);
    selects_.notify(most);  // after the fence in notify_some()
  }

  void announce_places(std::size_t count) noexcept {
    if constexpr (kBounded) {
      if (count != 0) writers_.notify_some(count_of(count));
    }
  }

  // In a ring, the push that makes an item has claimed its place: if that throws, what is behind it
  // is held back no more.
  template <class Make>
  void make(const Make& item) {
    detail::call_or(item, [this]() noexcept { announce_items(1); });
  }

  // A pop that found nothing may have passed over places whose items could not be made.
  void announce_passed_over() noexcept {
    if constexpr (requires { queue_.take_passed_over(); }) {
      announce_places(queue_.take_passed_over());
    }
  }

  // A ring may say `empty` while items stand behind a place that is not filled yet. A reader that
  // was woken for them in vain did not take them; so each that had to wait looks behind what it
  // took.
  void pass_items_on() noexcept {
    if (!queue_.empty()) wake_readers(1);
  }

  // The same for `full`.
  void pass_places_on() noexcept {
    // equivalent(bound): a writer that is woken in vain sleeps again
    if (queue_.size() < queue_.capacity()) writers_.notify_one();
  }

  static constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t count_of(std::size_t count) noexcept {
    return static_cast<std::uint32_t>(detail::min(count, kAll));
  }

  // --- Taking and waiting. ---

  template <class... Args>
  Status put(const Until& until, Args&&... args) {
    if constexpr (kBounded) {
      Status status = Status::closed;
      return wait_for_room(
          [&] {
            make([&] { status = queue_.try_emplace(std::forward<Args>(args)...); });
            return status;
          },
          until);
    } else {
      return try_emplace(std::forward<Args>(args)...);
    }
  }

  Status pushed(Status status) noexcept {
    if (status == Status::ok) announce_items(1);
    return status;
  }
  Status popped(Status status) noexcept {
    if (status == Status::ok) announce_places(1);
    return status;
  }
  Status looked(Status status) noexcept {
    if (status != Status::ok) announce_passed_over();
    return status;
  }

  std::size_t holds() const noexcept {
    if constexpr (kBounded) {
      return capacity();
    } else {
      return size();
    }
  }

  template <class Visitor>
  bool visit_one(Visitor& visitor) {
    struct Freed {  // also when the visitor throws: its item is gone all the same
      ~Freed() {
        if (visited) channel.announce_places(1);
      }
      Channel& channel;
      bool visited = false;
    };
    Freed freed{*this};
    const bool found = queue_.consume(
                           [&](T& item) {
                             freed.visited = true;
                             detail::call_and_drop(visitor, item);
                           },
                           1) == 1;
    if (!found) announce_passed_over();
    return found;
  }

  // ok, empty or closed, without asking T for an assignment. Asks the queue for nothing more than
  // each has: once it is closed its tail stands still, so empty() is then exact.
  Status take(std::optional<T>& item) noexcept {
    if (queue_.consume([&](T& front) { item.emplace(std::move(front)); }, 1) == 1) {
      return Status::ok;
    }
    return looked(queue_.closed() && queue_.empty() ? Status::closed : Status::empty);
  }

  // For a select.
  Status look(std::optional<T>& item) noexcept { return popped(take(item)); }
  detail::SelectList& selects() noexcept { return selects_; }

  template <class Attempt>
  Status wait_for_item(const Attempt& attempt, const Until& until) {
    Status status = attempt();
    if (status == Status::empty) {
      const auto found = [&] { return (status = attempt()) != Status::empty; };
      const Status waited =
          detail::status_of(readers_.await(found, until.deadline(), until.stop_token()));
      if (waited != Status::ok) return waited;
      if (status == Status::ok) pass_items_on();
    }
    return popped(status);
  }

  template <class Attempt>
  Status wait_for_room(const Attempt& attempt, const Until& until) {
    Status status = attempt();
    if (status == Status::full && !detail::Draining::is_here(this)) {
      const auto found = [&] { return (status = attempt()) != Status::full; };
      const Status waited = detail::status_of(
          writers_.await(found, until.deadline(), until.stop_token(), sync::spin_policy(), "full"));
      if (waited != Status::ok) return waited;
      if (status == Status::ok) pass_places_on();
    }
    return pushed(status);
  }

  Queue queue_;
  sync::EventCount readers_;  // wait for an item
  sync::EventCount writers_;  // wait for room
  detail::SelectList selects_;
};

// A push never waits and is never refused for want of room.
template <class T>
using UnboundedChannel = Channel<T, SegmentQueue<T>>;

static_assert(Transfer<Channel<int>>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

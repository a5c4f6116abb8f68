// SPDX-License-Identifier: MIT
//
// A bounded queue from one thread to one other.
//
//   SpscRing<Frame> ring(64);
//   while (ring.try_push(std::move(frame)) == Status::full) { ... }      // the producer
//   ring.consume([](Frame& next) { show(next); });                       // the consumer
//
// For: a pipeline's stages, a device and its reader; the cheapest queue between two threads. Not
// for: more than one thread on a side (MpscRing, MpmcRing); waiting (Channel).
// Tier: transfer.
// Concurrency: only one producer thread may call try_push, try_emplace, try_push_batch and close;
//   only one consumer thread may call try_pop, try_pop_batch and consume; the rest is thread-safe.
// Order: first in, first out. What the producer did before a push happens before the pop.
// Blocks: never. Allocates: the constructor only. Neither side ever waits for the other: all calls
//   are wait-free.
// Cost: each look at an empty ring takes a cache line from the producer. A consumer that pauses for
//   some tens of nanoseconds after it found few items gets up to 1.6 times the throughput.
// Full: `full`, and the item is still the caller's. `full` and `empty` are linearizable.
// Closed: only the producer may close(). Then pops drain and return `closed` after that; pushes
//   return `closed`.
// Exceptions: a constructor that throws in try_emplace leaves the ring as it was. If a visitor
//   throws, its item is consumed and the rest stay.
// Destructor: destroys the items that are left.
// Source: L. Lamport, "Specifying Concurrent Program Modules" (1983); the cached index of the other
//   side is that of E. Rigtorp, https://rigtorp.se/ringbuffer/. Proof: docs/design/rings.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/queue/detail/ring_item.hpp>
#include <handoff/queue/detail/ring_slots.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class SpscRing {
  static_assert(detail::HeldByValue<T>,
                "a ring holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a ring's item must move without throwing: mark its move constructor noexcept, or "
                "hold a std::unique_ptr to it");

 public:
  using value_type = T;

  // At least `capacity` places, rounded up to a power of two. 0 is misuse; throws
  // std::length_error for more than there can be.
  explicit SpscRing(std::size_t capacity) : SpscRing(capacity, detail::RingStart{}) {}
  ~SpscRing() {
    consume([](T&) {});
  }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // How many items have room.
  std::size_t capacity() const noexcept { return slots_.capacity(); }

  // The producer's: ok, full or closed.
  Status try_push(T&& item) noexcept { return try_emplace(std::move(item)); }
  template <detail::ConvertsToItem<T> From>
  Status try_push(From&& item) noexcept(std::is_nothrow_constructible_v<T, From>) {
    return try_emplace(std::forward<From>(item));
  }
  Status try_push(const T& item) noexcept(std::is_nothrow_copy_constructible_v<T>)
    requires std::copy_constructible<T>
  {
    return try_emplace(item);
  }

  // Makes the item in its place; makes nothing if there is none.
  template <class... Args>
  Status try_emplace(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    // order: relaxed, only this thread writes it.
    if (closed_.load(sync::order::relaxed)) return Status::closed;
    // order: relaxed, only this thread writes it.
    const std::uint64_t tail = tail_.load(sync::order::relaxed);
    if (free_places(tail, 1) == 0) return Status::full;
    slots_[tail].construct(std::forward<Args>(args)...);
    // order: release pairs with the acquire in items_from(): the item is there before its place
    // is counted.
    tail_.store(tail + 1, sync::order::release);
    return Status::ok;
  }

  // Moves in the first items, as many as have room, and returns how many; the rest is untouched.
  // 0 once closed.
  std::size_t try_push_batch(std::span<T> items) noexcept {
    // order: relaxed, only this thread writes it.
    if (closed_.load(sync::order::relaxed)) return 0;
    // order: relaxed, only this thread writes it.
    const std::uint64_t tail = tail_.load(sync::order::relaxed);
    const std::size_t count = detail::min(items.size(), free_places(tail, items.size()));
    if (count == 0) return 0;  // without a store, which would take the line from the consumer
    for (std::size_t i = 0; i < count; ++i) slots_[tail + i].construct(std::move(items[i]));
    // order: release pairs with the acquire in items_from().
    tail_.store(tail + count, sync::order::release);
    return count;
  }

  // The producer's last word. Idempotent.
  void close() noexcept {
    // order: release pairs with the acquire in try_pop() and closed(): a consumer that sees it sees
    // all pushes.
    closed_.store(true, sync::order::release);
  }

  // The consumer's: ok, empty or closed (and drained).
  Status try_pop(T& out) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
    // order: relaxed, only this thread writes it.
    const std::uint64_t head = head_.load(sync::order::relaxed);
    if (items_from(head, 1) == 0) {
      // order: acquire pairs with the release in close(). Pushes came before it, so a second look
      // at the tail is the last that is needed.
      if (!closed_.load(sync::order::acquire)) return Status::empty;
      if (items_from(head, 1) == 0) return Status::closed;
    }
    if constexpr (detail::kReplacingCalls<T>) {
      T item(std::move(slots_[head].write()));
      free_front(head);
      out = std::move(item);
    } else {
      out = std::move(slots_[head].write());
      free_front(head);
    }
    return Status::ok;
  }

  // The item itself, if there is one now: for items that have no empty state to begin with.
  [[nodiscard]] std::optional<T> try_pop() noexcept {
    std::optional<T> item;
    consume([&](T& front) { item.emplace(std::move(front)); }, 1);
    return item;
  }

  // Moves out as many as there are and have room in `out`; returns how many.
  std::size_t try_pop_batch(std::span<T> out) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
    if constexpr (detail::kReplacingCalls<T>) {
      std::size_t count = 0;
      while (count < out.size() && try_pop(out[count]) == Status::ok) ++count;
      return count;
    }
    // order: relaxed, only this thread writes it.
    const std::uint64_t head = head_.load(sync::order::relaxed);
    const std::size_t count = detail::min(out.size(), items_from(head, out.size()));
    if (count == 0) return 0;  // without a store, which would take the line from the producer
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = std::move(slots_[head + i].write());
      slots_[head + i].destroy();
    }
    // order: release pairs with the acquire in free_places().
    head_.store(head + count, sync::order::release);
    return count;
  }

  // Calls visitor(T&) on each item in its place, then destroys it; returns how many. At most
  // `most`, and only those that were there at the call. The visitor, and
  // the end of what it visits, must not take from this ring.
  template <class Visitor>
    requires std::is_invocable_v<Visitor&, T&>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    // order: relaxed, only this thread writes it.
    const std::uint64_t head = head_.load(sync::order::relaxed);
    const std::size_t count = detail::min(most, items_from(head, most));
    for (std::size_t i = 0; i < count; ++i) {
      const FrontItem front(*this, head + i);
      detail::call_and_drop(visitor, slots_[head + i].write());
    }
    return count;
  }

  // Figures of the moment, exact when both ends rest.
  std::size_t size() const noexcept {
    // order: acquire pairs with the releases of head_ and keeps the two loads in this order: the
    // tail read is not older than the head, so the difference is not negative.
    const std::uint64_t head = head_.load(sync::order::acquire);
    // order: relaxed, it is only a number here.
    const std::uint64_t tail = tail_.load(sync::order::relaxed);
    return static_cast<std::size_t>(detail::min<std::uint64_t>(tail - head, capacity()));
  }
  bool empty() const noexcept { return size() == 0; }

  // Whether close() was called. What came before it happens before a true.
  bool closed() const noexcept {
    // order: acquire pairs with the release in close().
    return closed_.load(sync::order::acquire);
  }

 protected:
  SpscRing(std::size_t capacity, detail::RingStart start)
      : slots_(capacity),
        tail_(start.position),
        head_seen_(start.position),
        head_(start.position),
        tail_seen_(start.position) {}

 private:
  template <class>
  friend struct detail::Books;

  // The item at the head while a visitor has it: gone afterwards, also by an exception.
  class FrontItem {
   public:
    FrontItem(SpscRing& ring, std::uint64_t head) noexcept : ring_(ring), head_(head) {}
    ~FrontItem() { ring_.free_front(head_); }
    FrontItem(const FrontItem&) = delete;
    FrontItem& operator=(const FrontItem&) = delete;

   private:
    SpscRing& ring_;
    const std::uint64_t head_;
  };

  // The place of an item that is gone, or goes here.
  void free_front(std::uint64_t head) noexcept {
    slots_[head].destroy();
    // order: release pairs with the acquire in free_places(): the place is bare before it is free.
    head_.store(head + 1, sync::order::release);
  }

  // The producer's count of free places; looks at the consumer's line only if the places it knows
  // of are fewer than `wanted`.
  std::size_t free_places(std::uint64_t tail, std::size_t wanted) noexcept {
    // equivalent(bound): one look more at the other end
    if (capacity() - (tail - head_seen_) < wanted) {
      // order: acquire pairs with the releases of head_: the place is bare before it is free.
      head_seen_ = head_.load(sync::order::acquire);
    }
    return static_cast<std::size_t>(capacity() - (tail - head_seen_));
  }

  // The consumer's count of items; looks at the producer's line only if those it knows of are
  // fewer than `wanted`.
  std::size_t items_from(std::uint64_t head, std::size_t wanted) noexcept {
    if (tail_seen_ - head < wanted) {  // equivalent(bound): one look more at the other end
      // order: acquire pairs with the releases of tail_: the item is there before it is counted.
      tail_seen_ = tail_.load(sync::order::acquire);
    }
    return static_cast<std::size_t>(tail_seen_ - head);
  }

  detail::RingSlots<sync::raw_cell<T>> slots_;

  // The producer's line. Positions grow for ever and run over at 2^64.
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> tail_;  // of the next push
  std::uint64_t head_seen_;  // head_ or before
  sync::atomic<bool> closed_{false};

  // The consumer's line.
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> head_;  // of the next pop
  std::uint64_t tail_seen_;  // tail_ or before
};

static_assert(Transfer<SpscRing<int>>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

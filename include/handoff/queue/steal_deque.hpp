// SPDX-License-Identifier: MIT
//
// A stack for its owner, a queue for all other threads: it holds a worker's waiting tasks.
//
//   deque.reserve();                         // the owner
//   deque.push(task);                        // the owner: newest end
//   if (deque.pop(task) == Status::ok) run(task);   // the owner: the newest
//   if (deque.steal(task) == Status::ok) run(task); // any thread: the oldest
//
// For: schedulers, this library's pools among them. The owner works on what it made last (still in
// its cache), thieves take what it made first (the largest part of a divided problem). Not for: a
// queue between equals (MpmcRing).
// T: trivially copyable and at most a word, so usually a pointer to the work.
// Tier: transfer, without a close: its owner drains it.
// Concurrency: only the owner, one thread, may call reserve(), push() and pop(); any thread may
//   call steal(), steal_if() and empty().
// Order: what came before a push happens before the pop or steal of that item.
// Blocks: never; lock-free. A steal is repeated only because another steal or a pop succeeded.
// Allocates: reserve(), when full: an array of twice the size. The smaller array stays until the
//   end, because a thief may be reading it; all smaller arrays together have at most as many places
//   as the largest.
// Full: never. Exceptions: reserve() throws std::bad_alloc; then nothing has changed.
// Cost: a push needs no read-modify-write, a pop one (none if the deque is empty), a steal one.
// Proof: docs/design/steal_deque.md.
// Source: D. Chase and Y. Lev, "Dynamic Circular Work-Stealing Deque", 2005; the orders follow from
// N. Le, A. Pop, A. Cohen and F. Zappa Nardelli, "Correct and Efficient Work-Stealing for Weak
// Memory Models", 2013, with orders on the variables in place of fences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/status.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class StealDeque {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*),
                "a thief may read an item that it then fails to take: let the deque hold pointers");

 public:
  using value_type = T;

  // Room for `capacity` items at first, rounded up to a power of two.
  explicit StealDeque(std::size_t capacity = 64) : StealDeque(capacity, detail::RingStart{}) {}
  StealDeque(const StealDeque&) = delete;
  StealDeque& operator=(const StealDeque&) = delete;

  // Makes sure that the next `more` pushes have room.
  void reserve(std::size_t more = 1) {
    const Index needed = height() + static_cast<Index>(more);
    // equivalent(bound): find_room() does nothing but look where there is room
    if (needed > room_until_) [[unlikely]]
      find_room(needed);
  }

  // After a reserve().
  void push(T item) noexcept {
    const Index bottom = height();
    largest_->write(bottom, item);
    // order: release pairs with the load of bottom_ in steal(): the item, and what led to it.
    bottom_.store(bottom + 1, sync::order::release);
  }

  // ok or empty. Inlined: a worker asks before each task, and mostly there is none.
  [[gnu::always_inline]] Status pop(T& out) noexcept {
    const Index last = height() - 1;
    // order: relaxed. Nobody but the owner adds, so what looks empty is.
    if (last < top_.load(sync::order::relaxed)) return Status::empty;
    // order: seq_cst, with the load of top_ below, against the exchange of top_ and the load of
    // bottom_ in steal(): either we see that a thief has come as far as `last`, or a thief that
    // comes so far sees that `last` is no longer there.
    bottom_.store(last, sync::order::seq_cst);
    Index top = top_.load(sync::order::seq_cst);  // order: seq_cst, see above
    const T item = largest_->read(last);
    if (top < last) {
      out = item;
      return Status::ok;
    }
    // The last one: a thief may be after it, and the exchange decides.
    // order: release pairs with the load of top_ in steal(): a thief that comes so far knows how
    // far bottom_ went down. Relaxed on failure, the item is another's.
    const bool mine = top == last && top_.compare_exchange_strong(
                                         top, top + 1, sync::order::release, sync::order::relaxed);
    bottom_.store(last + 1, sync::order::relaxed);  // order: relaxed, empty again, says nothing new
    if (!mine) return Status::empty;
    out = item;
    return Status::ok;
  }

  // ok or empty.
  Status steal(T& out) noexcept {
    return steal_if(out, []() noexcept { return true; });
  }

  // The same, if may() says so: asked when the item is seen, which was there then if it is taken.
  // What led to the push of the item happens before the question. A no is told as `empty`.
  template <class May>
  Status steal_if(T& out, May&& may) noexcept {
    for (;;) {
      // order: acquire pairs with the exchanges of top_: what a thief of before saw, we see.
      Index top = top_.load(sync::order::acquire);
      // order: seq_cst, see pop(); as an acquire it pairs with the release in push().
      const Index bottom = bottom_.load(sync::order::seq_cst);
      if (top >= bottom) return Status::empty;
      // order: acquire pairs with the release in grow().
      Places& places = *places_.load(sync::order::acquire);
      const T item = places.read(top);
      if (!may()) return Status::empty;
      // order: seq_cst, see pop(); relaxed on failure, tried again.
      if (top_.compare_exchange_strong(top, top + 1, sync::order::seq_cst, sync::order::relaxed)) {
        out = item;
        return Status::ok;
      }
    }
  }

  // A figure of the moment.
  bool empty() const noexcept {
    // order: relaxed, a hint.
    return height() <= top_.load(sync::order::relaxed);
  }

  // The number of the place that the next push takes; each push adds one and each pop takes one
  // away. What is below it was pushed before, so an owner knows what it has pushed since.
  std::int64_t height() const noexcept {
    // order: relaxed, only the owner writes it.
    return bottom_.load(sync::order::relaxed);
  }

 protected:
  StealDeque(std::size_t capacity, detail::RingStart start)
      : bottom_(signed_of(start.position)),
        largest_(std::make_unique<Places>(capacity)),
        room_until_(signed_of(start.position + largest_->cells.capacity())),
        top_(signed_of(start.position)),
        places_(largest_.get()) {}

 private:
  template <class>
  friend struct detail::Books;

  using Index = std::int64_t;  // compared by their difference, so they must not run over in a life

  struct Slot {
    sync::atomic<T> item{T{}};
  };
  struct Places {
    explicit Places(std::size_t capacity) : cells(capacity) {}
    T read(Index index) const noexcept {
      // order: relaxed. If the owner has used the place again by now, top_ has moved on, and the
      // thief's exchange fails.
      return cells[static_cast<std::uint64_t>(index)].item.load(sync::order::relaxed);
    }
    void write(Index index, T item) const noexcept {
      // order: relaxed, published by the store of bottom_, or of places_.
      cells[static_cast<std::uint64_t>(index)].item.store(item, sync::order::relaxed);
    }
    detail::RingSlots<Slot> cells;
    std::unique_ptr<Places> smaller;  // what there was before it
  };

  static Index signed_of(std::uint64_t position) noexcept { return static_cast<Index>(position); }

  void find_room(Index needed);
  Index capacity() const noexcept { return static_cast<Index>(largest_->cells.capacity()); }

  void grow(Index top);

  // The owner's, of which thieves read bottom_.
  alignas(sync::destructive_span) sync::atomic<Index> bottom_;  // where the next push goes
  std::unique_ptr<Places> largest_;
  Index room_until_;  // bottom_ may come as far without another look at top_
  // The thieves', of which the owner reads top_.
  alignas(sync::destructive_span) sync::atomic<Index> top_;  // the oldest
  sync::atomic<Places*> places_;  // largest_
};

// These two are long, and stay out of the places where reserve() is inlined.
template <class T>
void StealDeque<T>::find_room(Index needed) {
  // order: acquire pairs with the exchange in steal(): a thief that took an item has read its
  // place before the owner uses it again.
  const Index top = top_.load(sync::order::acquire);
  room_until_ = top + capacity();
  while (needed > room_until_) {
    grow(top);
    room_until_ = top + capacity();
  }
}

template <class T>
void StealDeque<T>::grow(Index top) {
  auto larger = std::make_unique<Places>(2 * largest_->cells.capacity());
  // equivalent(bound): one place more is copied, which no index in use names
  for (Index i = top; i < height(); ++i) larger->write(i, largest_->read(i));
  larger->smaller = std::move(largest_);
  largest_ = std::move(larger);
  // order: release pairs with the load in steal(): the copies are there before the array is.
  places_.store(largest_.get(), sync::order::release);
}

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

// SPDX-License-Identifier: MIT
//
// A queue without a bound, from many threads to many.
//
//   SegmentQueue<Job> queue;
//   Status s = queue.try_push(std::move(job));                      // any thread
//   queue.consume([](Job& next) { run(next); }, 16);                 // any thread
//
// For: producers that must not wait and whose number of items is not known beforehand. Not for:
// cases with a known bound (a ring is cheaper and tells a producer when it is too fast); waiting
// (Channel).
// Tier: transfer.
// Concurrency: thread-safe.
// Order: first in, first out, one order for all producers; several consumers may finish with the
//   items in any order. What was done before a push happens before the pop.
// Blocks: for a few instructions of another thread at the same end; once per segment also while
//   another pushing thread allocates. The two ends do not block each other.
// Allocates: a push, when the last segment is full and none is spare; a queue that never holds more
//   than a segment uses two segments in turn. A pop frees a segment that is no longer needed.
// Full: never; a push that finds no memory throws std::bad_alloc and leaves its item as it was.
// `empty` and `closed` are exact (linearizable).
// Closed: any thread may close(). No push that begins after it succeeds; pops drain, then return
//   `closed`.
// Exceptions: a constructor or conversion that throws leaves the queue as it was; it must not use
//   this queue. If a visitor throws, its item is consumed and the rest stay.
// Destructor: destroys the items that are left.
// Source: the two locks are those of M. Michael and M. Scott, "Simple, Fast, and Practical
//   Non-Blocking and Blocking Concurrent Queue Algorithms" (1996); segments and their reuse are
//   ours. Proof: docs/design/channel.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/invoke.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/detail/raw_box.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/transfer.hpp>
#include <handoff/queue/detail/ring_item.hpp>
#include <handoff/queue/detail/ring_slots.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
// A page or so, but enough that the links do not weigh.
consteval std::size_t segment_places(std::size_t item_bytes) {
  const std::size_t in_a_page = 4000 / item_bytes;
  return in_a_page < 16 ? 16 : detail::min(in_a_page, 512);
}
}  // namespace detail

template <class T, std::size_t kPlaces = detail::segment_places(sizeof(T))>
class SegmentQueue {
  static_assert(detail::HeldByValue<T>,
                "a queue holds values, not references, whose destructors do not throw");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a queue's item must move without throwing: mark its move constructor noexcept, or "
                "hold a std::unique_ptr to it");

 public:
  using value_type = T;

  // Throws std::bad_alloc.
  SegmentQueue() : head_segment_(make_segment()), tail_segment_(head_segment_.read()) {}
  ~SegmentQueue() {
    consume([](T&) {});
    for (Segment* segment = head_segment_.read(); segment != nullptr;) {
      free_segment(std::exchange(segment, segment->next.read()));
    }
    // order: relaxed, nobody else is left.
    free_segment(spare_.load(sync::order::relaxed));
  }
  SegmentQueue(const SegmentQueue&) = delete;
  SegmentQueue& operator=(const SegmentQueue&) = delete;

  // ok or closed. What is not ok, or throws, leaves the item as it was.
  Status try_push(T&& item) { return try_emplace(std::move(item)); }
  template <detail::ConvertsToItem<T> From>
  Status try_push(From&& item) {
    return try_emplace(std::forward<From>(item));
  }
  Status try_push(const T& item)
    requires std::copy_constructible<T>
  {
    return try_emplace(item);
  }

  // Makes the item in its place.
  template <class... Args>
  Status try_emplace(Args&&... args) {
    const sync::Lock lock(tail_mutex_);
    if (is_closed_for_push()) return Status::closed;
    reserve(1);
    next_place().construct(std::forward<Args>(args)...);
    // equivalent(swap): under the mutex of that end, and the other end does not look at the number
    ++tail_place_.write();
    publish(1);
    return Status::ok;
  }

  // Moves in all items and returns how many; 0 once closed.
  std::size_t try_push_batch(std::span<T> items) {
    const sync::Lock lock(tail_mutex_);
    if (is_closed_for_push()) return 0;
    reserve(items.size());
    for (T& item : items) {
      next_place().construct(std::move(item));
      ++tail_place_.write();
    }
    publish(items.size());
    return items.size();
  }

  // No push that begins after this succeeds. Idempotent. Any thread.
  void close() noexcept {
    const sync::Lock lock(tail_mutex_);
    // order: release pairs with the acquire in closed(): a consumer that sees it sees all pushes.
    closed_.store(true, sync::order::release);
  }

  // ok, empty or closed (and drained).
  Status try_pop(T& out) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
    if constexpr (detail::kReplacingCalls<T>) {
      TakenItem taken;
      const Status status = take_to(taken);
      if (status == Status::ok) out = std::move(taken.place.write());
      return status;
    } else {
      return take([&](T& item) { out = std::move(item); });
    }
  }

  // The item itself, if there is one now: for items that have no empty state to begin with.
  [[nodiscard]] std::optional<T> try_pop() noexcept {
    std::optional<T> item;
    (void)take([&](T& front) { item.emplace(std::move(front)); });
    return item;
  }

  // Moves out as many as there are and have room in `out`; returns how many.
  std::size_t try_pop_batch(std::span<T> out) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item whose assignment may throw could get lost here: use consume()");
    std::size_t count = 0;
    if constexpr (detail::kReplacingCalls<T>) {
      for (std::size_t taken = 1; taken != 0 && count < out.size(); count += taken) {
        taken = take_some(out.subspan(count));
      }
    } else {
      const sync::Lock lock(head_mutex_);
      for (; count < out.size(); ++count) {
        sync::raw_cell<T>* const front = front_place();
        if (front == nullptr) break;
        out[count] = std::move(front->write());
        drop(*front);
      }
    }
    return count;
  }

  // Calls visitor(T&) on each item, moved out of the queue first, so that the visitor may push and
  // pop; returns how many. At most `most`, and only those that were there at the call.
  template <class Visitor>
    requires std::is_invocable_v<Visitor&, T&>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const std::size_t limit = detail::min(most, size());
    for (std::size_t count = 0; count < limit; ++count) {
      TakenItem taken;
      if (take_to(taken) != Status::ok) return count;
      detail::call_and_drop(visitor, taken.place.write());
    }
    return limit;
  }

  // Figures of the moment, exact at rest.
  std::size_t size() const noexcept {
    // order: relaxed, two numbers of about the same moment; clamped, since either may be older.
    const std::uint64_t popped = popped_.load(sync::order::relaxed);
    // order: relaxed, as above.
    const auto size = static_cast<std::int64_t>(pushed_.load(sync::order::relaxed) - popped);
    return static_cast<std::size_t>(size < 0 ? 0 : size);
  }
  bool empty() const noexcept { return size() == 0; }

  // Whether close() was called.
  bool closed() const noexcept {
    // order: acquire pairs with the release in close().
    return closed_.load(sync::order::acquire);
  }

 private:
  template <class>
  friend struct detail::Books;

  struct Segment {
    sync::cell<Segment*> next;
    sync::raw_cell<T> places[kPlaces];
  };

  // An item on its way out, where its taker may call the queue again.
  struct TakenItem {
    TakenItem() noexcept = default;
    ~TakenItem() {
      if (full) place.destroy();
    }
    TakenItem(const TakenItem&) = delete;
    TakenItem& operator=(const TakenItem&) = delete;
    sync::raw_cell<T> place;
    bool full = false;
  };

  Status take_to(TakenItem& taken) noexcept {
    const Status status = take([&](T& item) { taken.place.construct(std::move(item)); });
    taken.full = status == Status::ok;
    return status;
  }

  // Moves out some, by way of the stack: what they replace ends when the lock is given back. 0:
  // none is there.
  std::size_t take_some(std::span<T> out) noexcept {
    constexpr auto most =
        detail::min<std::size_t>(detail::max<std::size_t>(1024 / sizeof(T), 1), 16);
    TakenItem taken[most];
    std::size_t count = 0;
    {
      const sync::Lock lock(head_mutex_);
      for (; count < detail::min(out.size(), most); ++count) {
        sync::raw_cell<T>* const front = front_place();
        if (front == nullptr) break;
        taken[count].place.construct(std::move(front->write()));
        taken[count].full = true;  // equivalent(swap): a member of the call alone
        drop(*front);
      }
    }
    for (std::size_t i = 0; i < count; ++i) out[i] = std::move(taken[i].place.write());
    return count;
  }

  static Segment* make_segment() { return detail::RawBox<Segment>().make(); }
  static void free_segment(Segment* segment) noexcept {
    if (segment != nullptr) detail::RawBox<Segment>::destroy(segment);
  }

  // --- The end where pushes come: with tail_mutex_ held. ---

  bool is_closed_for_push() const noexcept {
    return closed_.load(sync::order::relaxed);  // order: relaxed, written under the same mutex
  }

  // Makes sure that segments with `count` free places are linked. What a std::bad_alloc leaves
  // linked is there for the next push.
  void reserve(std::size_t count) {
    Segment* segment = tail_segment_.read();
    for (std::size_t room = kPlaces - tail_place_.read(); room < count; room += kPlaces) {
      if (segment->next.read() == nullptr) segment->next.write() = spare_or_new();
      segment = segment->next.read();
    }
  }

  Segment* spare_or_new() {
    // order: acquire pairs with the release in recycle(): its places are bare.
    Segment* const spare = spare_.exchange(nullptr, sync::order::acquire);
    if (spare == nullptr) return make_segment();
    spare->next.write() = nullptr;
    return spare;
  }

  // A place that reserve() made sure of.
  sync::raw_cell<T>& next_place() noexcept {
    if (tail_place_.read() == kPlaces) {
      tail_segment_.write() = tail_segment_.read()->next.read();
      tail_place_.write() = 0;
    }
    return tail_segment_.read()->places[tail_place_.read()];
  }

  void publish(std::size_t count) noexcept {
    // order: relaxed, written under the same mutex.
    const std::uint64_t pushed = pushed_.load(sync::order::relaxed);
    // order: release pairs with the acquire in front_place(): the items and the segments they lie
    // in are there before they are counted.
    pushed_.store(pushed + count, sync::order::release);
  }

  // --- The end where pops come: with head_mutex_ held. ---

  // Where the next item lies; null if there is none.
  sync::raw_cell<T>* front_place() noexcept {
    // order: relaxed, written under the same mutex.
    const std::uint64_t popped = popped_.load(sync::order::relaxed);
    if (popped == pushed_seen_.read()) {
      // order: acquire pairs with the release in publish().
      pushed_seen_.write() = pushed_.load(sync::order::acquire);
      if (popped == pushed_seen_.read()) return nullptr;
    }
    if (head_place_.read() == kPlaces) {
      Segment* const done = head_segment_.read();
      head_segment_.write() = done->next.read();
      // equivalent(swap): under the mutex of that end; recycle() does not look at the number
      head_place_.write() = 0;
      recycle(done);
    }
    return &head_segment_.read()->places[head_place_.read()];
  }

  // Keeps one segment for the producers; what they do not need goes.
  void recycle(Segment* segment) noexcept {
    // order: release pairs with the acquire in spare_or_new(). What comes back was put there under
    // the same mutex.
    free_segment(spare_.exchange(segment, sync::order::release));
  }

  void drop(sync::raw_cell<T>& place) noexcept {
    // equivalent(swap): under the mutex of that end; an item cannot look at the number while it
    // ends
    place.destroy();
    ++head_place_.write();
    // order: relaxed, written under this mutex; elsewhere it is only a number.
    popped_.store(popped_.load(sync::order::relaxed) + 1, sync::order::relaxed);
  }

  // Hands the front item over, if there is one.
  template <class Receive>
  Status take(const Receive& receive) noexcept {
    const sync::Lock lock(head_mutex_);
    sync::raw_cell<T>* front = front_place();
    if (front == nullptr) {
      if (!closed()) return Status::empty;
      front = front_place();  // no push comes after the close, so this look is the last one needed
      if (front == nullptr) return Status::closed;
    }
    receive(front->write());
    drop(*front);
    return Status::ok;
  }

  // Pops' end.
  alignas(sync::destructive_span) sync::Mutex head_mutex_;
  sync::cell<Segment*> head_segment_;
  sync::cell<std::size_t> head_place_;
  sync::cell<std::uint64_t> pushed_seen_;
  sync::atomic<std::uint64_t> popped_{0};
  // Pushes' end.
  alignas(sync::destructive_span) sync::Mutex tail_mutex_;
  sync::cell<Segment*> tail_segment_;
  sync::cell<std::size_t> tail_place_;
  sync::atomic<std::uint64_t> pushed_{0};
  sync::atomic<bool> closed_{false};
  // A segment on its way back from pops to pushes.
  alignas(sync::destructive_span) sync::atomic<Segment*> spare_{nullptr};
};

static_assert(Transfer<SegmentQueue<int>>);

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")

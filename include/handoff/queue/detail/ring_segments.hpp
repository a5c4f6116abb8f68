// SPDX-License-Identifier: MIT
//
// The protocol of segments: many producers and many consumers, without a bound. The calls are in
// ring.hpp. Not for users.
//
// A chain of segments of places. Each end has a lock, which a claim holds as long as it lasts; the
// ends meet in one count, a RingPosition: of the items that were pushed. A segment that the pops
// have left is kept for the pushes, if none is kept yet.
// Source: the two locks are those of M. Michael and M. Scott, "Simple, Fast, and Practical
// Non-Blocking and Blocking Concurrent Queue Algorithms" (1996); segments and their reuse are ours.
// Proof: docs/design/channel.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/status.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/queue/internal/ring_positions.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T, std::size_t kPlaces>
class SegmentPlaces {
  struct Segment {
    sync::cell<Segment*> next;
    sync::raw_cell<T> places[kPlaces];
  };

 public:
  // An end, locked, and how many places or items may be used there.
  struct Claim {
    sync::Lock lock;
    std::size_t count;
    std::size_t first = 0;
    std::size_t operator[](std::size_t i) const noexcept { return i; }
  };
  static constexpr bool kAllocates = true;
  // An item that cannot be made leaves all as it was; it must not use this queue.
  static constexpr bool kMayFail = true;

  // Throws std::bad_alloc.
  SegmentPlaces() : head_segment_(make_segment()), tail_segment_(head_segment_.read()) {}
  ~SegmentPlaces() {
    for (Segment* segment = head_segment_.read(); segment != nullptr;) {
      free_segment(std::exchange(segment, segment->next.read()));
    }
    // order: relaxed, nobody else is left.
    free_segment(spare_.load(sync::order::relaxed));
  }

  // --- The end where pushes come: with tail_mutex_ held. ---

  [[gnu::always_inline]] Claim claim_places(std::size_t most) {
    return {sync::Lock(tail_mutex_), reserve(most)};
  }
  static Status refused(const Claim&) noexcept { return Status::closed; }
  template <class... Args>
  void fill(std::size_t, Args&&... args) {
    next_place().construct(std::forward<Args>(args)...);
    // equivalent(swap): under the mutex of that end, and the other end does not look at the number
    ++tail_place_.write();
  }
  // The items and the segments they lie in are there before they are counted.
  void filled(const Claim& claim) noexcept { pushed_.move_to(pushed_.own() + claim.count); }
  void close() noexcept {
    const sync::Lock lock(tail_mutex_);
    closed_.close();
  }

  // --- The end where pops come: with head_mutex_ held. ---

  [[gnu::always_inline]] Claim claim_items(std::size_t most) noexcept {
    return {sync::Lock(head_mutex_), ready(most)};
  }
  // No push comes after the close, so this look is the last that is needed.
  Status found_none(Claim& claim) noexcept {
    if (!closed_.is_seen()) return Status::empty;
    claim.count = ready(1);
    return claim.count == 0 ? Status::closed : Status::ok;
  }
  T& item(std::size_t) noexcept {
    if (head_place_.read() == kPlaces) {
      Segment* const done = head_segment_.read();
      head_segment_.write() = done->next.read();
      // equivalent(swap): under the mutex of that end; recycle() does not look at the number
      head_place_.write() = 0;
      recycle(done);
    }
    return front().write();
  }
  void bare(std::size_t) noexcept {
    // equivalent(swap): under the mutex of that end; an item cannot look at the number while it
    // ends
    front().destroy();
    ++head_place_.write();
  }
  void bared(const Claim& claim) noexcept { popped_.add_alone(claim.count); }
  // Those that were there at the call, each moved out first: a visitor may push and pop.
  template <class Visit>
  std::size_t visit(std::size_t most, const Visit& visit) {
    const std::size_t limit = detail::min(most, size());
    for (std::size_t count = 0; count < limit; ++count) {
      TakenItem<T> taken;
      {
        const Claim claim = claim_items(1);
        if (claim.count == 0) return count;
        taken(item(claim.first));
        bare(claim.first);
        bared(claim);
      }
      visit(taken.value());
    }
    return limit;
  }

  // --- By any thread. ---

  // Two numbers of about the same moment; clamped, since either may be older.
  std::size_t size() const noexcept {
    const std::uint64_t popped = popped_.get();
    const auto size = static_cast<std::int64_t>(pushed_.own() - popped);
    return static_cast<std::size_t>(size < 0 ? 0 : size);
  }
  bool closed() const noexcept { return closed_.is_seen(); }

 private:
  template <class>
  friend struct Books;

  static Segment* make_segment() { return RawBox<Segment>().make(); }
  static void free_segment(Segment* segment) noexcept {
    if (segment != nullptr) RawBox<Segment>::destroy(segment);
  }

  // Makes sure that segments with so many free places are linked; 0 once closed. What a
  // std::bad_alloc leaves linked is there for the next push.
  std::size_t reserve(std::size_t count) {
    if (closed_.is_said()) return 0;
    Segment* segment = tail_segment_.read();
    for (std::size_t room = kPlaces - tail_place_.read(); room < count; room += kPlaces) {
      if (segment->next.read() == nullptr) segment->next.write() = spare_or_new();
      segment = segment->next.read();
    }
    return count;
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

  // How many items there are, `most` at most; looks again if it knows of fewer.
  std::size_t ready(std::size_t most) noexcept {
    const std::uint64_t popped = popped_.get();
    // equivalent(bound): one look more at the other end
    if (pushed_seen_.read() - popped < most) pushed_seen_.write() = pushed_.seen();
    return detail::min(most, static_cast<std::size_t>(pushed_seen_.read() - popped));
  }

  sync::raw_cell<T>& front() noexcept { return head_segment_.read()->places[head_place_.read()]; }

  // Keeps one segment for the producers; what they do not need goes.
  void recycle(Segment* segment) noexcept {
    // order: release pairs with the acquire in spare_or_new(). What comes back was put there under
    // the same mutex.
    free_segment(spare_.exchange(segment, sync::order::release));
  }

  // Pops' end.
  alignas(sync::destructive_span) sync::Mutex head_mutex_;
  sync::cell<Segment*> head_segment_;
  sync::cell<std::size_t> head_place_;
  sync::cell<std::uint64_t> pushed_seen_;
  sync::relaxed<std::uint64_t> popped_;  // order: written under the mutex; elsewhere a number
  // Pushes' end.
  alignas(sync::destructive_span) sync::Mutex tail_mutex_;
  sync::cell<Segment*> tail_segment_;
  sync::cell<std::size_t> tail_place_;
  RingPosition pushed_{0};
  RingClosed closed_;
  // A segment on its way back from pops to pushes.
  alignas(sync::destructive_span) sync::atomic<Segment*> spare_{nullptr};
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

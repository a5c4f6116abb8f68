// SPDX-License-Identifier: MIT
//
// The two ends of a queue in shared memory from one producer to one consumer: positions only, of
// places or of bytes. SharedRing and SharedByteRing say what lies there. Not for users.
//
// An end keeps its own position to itself; the word in shared memory is for the other one, and for
// a successor. What it reads of the other end it reads once and checks (SE-1), so that it never
// works outside the ring. An end that finds a word that cannot be is damaged: it says `closed` for
// ever.
//   SE-1  Of a position of the other end only one within `capacity` of the own one is used.
//   SE-2  What a publish() said `ok` to is delivered, to this consumer or a successor. A close that
//         comes between a push's begin and its end is decided by one word, `end`: the first end to
//         write there says where the ring ends. The producer says it behind its push, the consumer
//         at its own position once it has found nothing.
// Concurrency: one producer end, one consumer end, each by one thread at a time.
// Blocks: reserve_until(), find_until(). Allocates: those, as Until does.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/bell_patience.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What both share.
struct SharedPositions {
  explicit SharedPositions(std::uint64_t start) noexcept : tail(start), head(start) {}

  alignas(sync::destructive_span) sync::atomic<std::uint64_t> tail;  // the producer's
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> head;  // the consumer's
  // Seldom written: both have it in their caches.
  alignas(sync::destructive_span) SharedBell items;  // the consumer sleeps here; the close bit
  SharedBell room;  // the producer sleeps here
  sync::atomic<std::uint64_t> end{0};  // 0: open, else the last position and one

  // Any process, at any time, again and again.
  void close() noexcept;
  // After the death of either: wakes what a dead ringer may have left asleep.
  void disturb() noexcept;
  // About how many there are at this moment; at most `capacity`.
  [[nodiscard]] std::uint64_t size(std::uint64_t capacity) const noexcept;
};

class SharedProducerEnd {
 public:
  // Goes on where the shared word says. Not good() if that cannot be.
  SharedProducerEnd(SharedPositions& shared, std::uint64_t capacity) noexcept;
  SharedProducerEnd(const SharedProducerEnd&) = delete;
  SharedProducerEnd& operator=(const SharedProducerEnd&) = delete;

  [[nodiscard]] bool damaged() const noexcept { return damaged_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return tail_; }

  // Whether `count` from position() on are free: ok, full or closed.
  Status reserve(std::uint64_t count) noexcept {
    if (shared_->items.closed() || damaged_) [[unlikely]]
      return Status::closed;
    if (capacity_ - (tail_ - head_seen_) >= count) return Status::ok;
    return look_for_room(count);
  }
  // How many are free, `most` at most; 0 if closed.
  [[nodiscard]] std::uint64_t room(std::uint64_t most) noexcept {
    if (reserve(most) == Status::closed) return 0;
    return detail::min(most, capacity_ - (tail_ - head_seen_));
  }
  // Waits while they are not free: ok, closed, timed_out or stopped.
  Status reserve_until(std::uint64_t count, const Until& until) {
    const Status status = reserve(count);
    return status != Status::full ? status : wait_for_room(count, until);
  }

  // What was reserved is there now. ok; closed: it will never be delivered.
  Status publish(std::uint64_t count) noexcept {
    tail_ += count;
    // order: release pairs with the acquire in SharedConsumerEnd::look_for_items(): what lies there
    // comes before its position.
    shared_->tail.store(tail_, sync::order::release);
    const std::uint32_t seen = shared_->items.look();
    return seen == 0 ? Status::ok : publish_to(seen);
  }

 private:
  Status look_for_room(std::uint64_t count) noexcept;
  Status wait_for_room(std::uint64_t count, const Until& until);
  Status publish_to(std::uint32_t seen) noexcept;

  SharedPositions* shared_;
  std::uint64_t capacity_;
  std::uint64_t tail_ = 0;
  std::uint64_t head_seen_ = 0;
  BellPatience patience_;
  bool damaged_ = false;
};

class SharedConsumerEnd {
 public:
  SharedConsumerEnd(SharedPositions& shared, std::uint64_t capacity) noexcept;
  SharedConsumerEnd(const SharedConsumerEnd&) = delete;
  SharedConsumerEnd& operator=(const SharedConsumerEnd&) = delete;

  [[nodiscard]] bool damaged() const noexcept { return damaged_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return head_; }

  // How many there are from position() on; looks again if those it knows of are fewer than
  // `wanted`.
  [[nodiscard]] std::uint64_t items(std::uint64_t wanted) noexcept {
    if (tail_seen_ - head_ < wanted) look_for_items();
    return tail_seen_ - head_;
  }
  // Whether there is anything: ok, empty or closed (and drained).
  Status find() noexcept {
    if (items(1) != 0) return Status::ok;
    return shared_->items.closed() || damaged_ ? drained() : Status::empty;
  }
  // Waits while there is nothing: ok, closed, timed_out or stopped.
  Status find_until(const Until& until) {
    const Status status = find();
    return status != Status::empty ? status : wait_for_items(until);
  }

  // The first `count` may be written over now.
  void release(std::uint64_t count) noexcept {
    head_ += count;
    // order: release pairs with the acquire in look_for_room(): what was there has been read.
    shared_->head.store(head_, sync::order::release);
    shared_->room.ring();
  }

  // What changes once find() says something else than `empty`.
  [[nodiscard]] RingWatch watch() const noexcept {
    return {.doorbell = &shared_->items, .word = &shared_->tail, .seen = head_};
  }

  // For what lies there: a length that cannot be. Nothing more is taken.
  void damage() noexcept;

 private:
  void look_for_items() noexcept;
  Status wait_for_items(const Until& until);
  void end_at(std::uint64_t position) noexcept;
  Status drained() noexcept;

  SharedPositions* shared_;
  std::uint64_t capacity_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_seen_ = 0;
  BellPatience patience_;
  bool ended_ = false;  // tail_seen_ is the last there will be
  bool damaged_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

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
// Blocks: reserve_until(), look_until(). Allocates: those, as Until does.
// Proof: docs/design/shared_ring.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/bell_patience.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/queue/internal/ring_positions.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What both share.
struct SharedPositions {
  explicit SharedPositions(std::uint64_t start) noexcept : tail(start), head(start) {}

  alignas(sync::destructive_span) RingPosition tail;  // the producer's
  alignas(sync::destructive_span) RingPosition head;  // the consumer's
  // Seldom written: both have it in their caches.
  alignas(sync::destructive_span) SharedBell items;  // the consumer sleeps here; the close bit
  SharedBell room;  // the producer sleeps here
  sync::atomic<std::uint64_t> end{0};  // 0: open, else the last position and one

  // Any process, at any time, again and again.
  void close() noexcept;
  // After the death of either: wakes what a dead ringer may have left asleep.
  void disturb() noexcept;
  // About how many there are at this moment; at most `capacity`.
  [[nodiscard]] std::uint64_t size(std::uint64_t capacity) const noexcept {
    return RingPosition::between(head, tail, capacity);
  }
};

// What both ends are: a position, and the limit of what this end may use from there on.
class SharedEnd {
 public:
  SharedEnd(const SharedEnd&) = delete;
  SharedEnd& operator=(const SharedEnd&) = delete;

  [[nodiscard]] bool damaged() const noexcept { return damaged_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return own_; }

  // For what cannot be, here or in what lies there. Nothing more is used.
  void damage() noexcept {
    limit_ = own_;
    damaged_ = true;
  }

 protected:
  // Goes on where the shared word says.
  SharedEnd(SharedPositions& shared, std::uint64_t own, std::uint64_t capacity) noexcept
      : shared_(&shared), capacity_(capacity), own_(own), limit_(own) {}

  [[nodiscard]] std::uint64_t left() const noexcept { return limit_ - own_; }
  // The difference is unsigned: a limit before the own position is too far away as well (SE-1).
  void limit_to(std::uint64_t limit) noexcept {
    if (limit - own_ > capacity_) return damage();
    limit_ = limit;
  }
  void pass(std::uint64_t count, RingPosition& shared) noexcept {
    own_ += count;
    shared.move_to(own_);
  }

  SharedPositions* shared_;
  std::uint64_t capacity_;
  BellPatience patience_;

 private:
  std::uint64_t own_;
  std::uint64_t limit_;
  bool damaged_ = false;
};

class SharedProducerEnd : public SharedEnd {
 public:
  // damaged() if the positions cannot be.
  SharedProducerEnd(SharedPositions& shared, std::uint64_t capacity) noexcept;

  // Whether `count` from position() on are free: ok, full or closed.
  Status reserve(std::uint64_t count) noexcept {
    if (shared_->items.closed() || damaged()) [[unlikely]]
      return Status::closed;
    return left() >= count ? Status::ok : look_for_room(count);
  }
  // How many are free, `most` at most; 0 if closed.
  [[nodiscard]] std::uint64_t room(std::uint64_t most) noexcept {
    return reserve(most) == Status::closed ? 0 : detail::min(most, left());
  }
  // Waits while they are not free: ok, closed, timed_out or stopped.
  Status reserve_until(std::uint64_t count, const Until& until) {
    const Status status = reserve(count);
    return status != Status::full ? status : wait_for_room(count, until);
  }

  // What was reserved is there now. ok; closed: it will never be delivered.
  Status publish(std::uint64_t count) noexcept {
    pass(count, shared_->tail);
    const std::uint32_t seen = shared_->items.look();
    return seen == 0 ? Status::ok : publish_to(seen);
  }

  // One place, which is claimed until it is published. publish() says `closed` also where none is.
  Status try_claim() noexcept { return claimed(reserve(1)); }
  Status claim(const Until& until) { return claimed(reserve_until(1, until)); }
  Status publish() noexcept {
    if (!is_claimed_) return Status::closed;
    is_claimed_ = false;
    return publish(1);
  }

 private:
  Status look_for_room(std::uint64_t count) noexcept;
  Status wait_for_room(std::uint64_t count, const Until& until);
  Status publish_to(std::uint32_t seen) noexcept;
  Status claimed(Status status) noexcept {
    is_claimed_ = status == Status::ok;
    return status;
  }

  bool is_claimed_ = false;
};

class SharedConsumerEnd : public SharedEnd {
 public:
  SharedConsumerEnd(SharedPositions& shared, std::uint64_t capacity) noexcept;

  // How many there are from position() on; looks again if those it knows of are fewer than
  // `wanted`.
  [[nodiscard]] std::uint64_t items(std::uint64_t wanted) noexcept {
    if (left() < wanted) look_for_items();
    return left();
  }
  // Whether there is anything: ok, empty or closed (and drained).
  Status look() noexcept {
    if (items(1) != 0) return Status::ok;
    return shared_->items.closed() || damaged() ? drained() : Status::empty;
  }
  // Waits while there is nothing: ok, closed, timed_out or stopped.
  Status look_until(const Until& until) {
    const Status status = look();
    return status != Status::empty ? status : wait_for_items(until);
  }

  // The first `count` may be written over now.
  void give_back(std::uint64_t count) noexcept {
    is_found_ = false;
    pass(count, shared_->head);
    shared_->room.ring();
  }

  // One place, which is found until it is released.
  Status try_find() noexcept { return found(look()); }
  Status find(const Until& until) { return found(look_until(until)); }
  void release() noexcept {
    if (is_found_) give_back(1);
  }

  // What changes once look() says something else than `empty`.
  [[nodiscard]] RingWatch watch() const noexcept {
    return {.doorbell = &shared_->items, .word = &shared_->tail.word(), .seen = position()};
  }

 private:
  void look_for_items() noexcept;
  Status wait_for_items(const Until& until);
  void end_at(std::uint64_t position) noexcept;
  Status drained() noexcept;

  Status found(Status status) noexcept {
    is_found_ = status == Status::ok;
    return status;
  }

  bool is_found_ = false;
  bool ended_ = false;  // the limit is the last there will be
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

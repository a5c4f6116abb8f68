// SPDX-License-Identifier: MIT
//
// A ring of places that producers claim and one consumer empties in the order of the claims. A bus
// with one order has one for all producers; a bus of lanes has one more for each producer that
// asked for it. Not for users.
//
// Positions grow for ever; a ticket is a position twice. A place's state says what was put into it:
//
//   state == position << 16 | mark     the message of this position, of the type that `mark` names,
//                                      or kSkipped: none, its claim was dropped
//   anything else                      not there yet
//
// The consumer writes no state: a place is free when the consumer's position has passed it, which
// is published message by message. A producer remembers the position it saw last, and reads it
// anew before it refuses. docs/design/message_bus.md has the protocol, its invariants MB-1 to MB-3,
// and the proof.
// Concurrency: claim_among() by any thread, claim_alone() by one at a time; a ring has calls of one
//   kind only. Head and front by the consumer. The rest by any thread.
// Blocks, allocates, throws: never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <handoff/bus/admission.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/core/status.hpp>
#include <handoff/queue/internal/ring_positions.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/relaxed.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr std::size_t kAdmissions = 3;
constexpr std::size_t index_of(handoff::Admission admission) noexcept {
  return static_cast<std::size_t>(admission);
}

// How many messages may wait when one more of this class comes, by index_of().
struct AdmissionLimits {
  std::int64_t most[kAdmissions];
};

// Producers that wait for room, by class: what is no room for one is room for another. On lines of
// their own: the consumer looks at the count message by message, where producers wait at all.
struct alignas(sync::destructive_span) RoomWaiters {
  RareSleepers sleepers;
  sync::EventCount events[kAdmissions];
};

template <class Slot>
class MessageRing {
 public:
  using Admission = handoff::Admission;  // not that of pools
  using Ticket = std::uint64_t;

  // In a row. If none, why: full or closed.
  struct Claim {
    Ticket first = 0;
    std::size_t count = 0;
    Status refused = Status::ok;
  };

  // In a state.
  using Mark = std::uint32_t;
  static constexpr Mark kNothing = 0;
  static constexpr Mark kSkipped = 0xffff;
  static constexpr std::size_t kTypesMost = kSkipped - 1;
  static constexpr Mark mark_of(std::size_t type) noexcept { return static_cast<Mark>(type) + 1; }
  static constexpr std::size_t type_of(Mark mark) noexcept { return mark - 1; }
  static constexpr bool is_message(std::uint64_t mark) noexcept { return mark - 1 < kTypesMost; }

  // `memory`: room for `capacity` places, a power of two. `waits`: producers wait for room.
  // `start`: the first position, for tests, which cannot wait until 64 bits have run over.
  MessageRing(void* memory, std::size_t capacity, const AdmissionLimits& limits, bool waits,
              std::uint64_t start) noexcept
      : slots_(static_cast<Slot*>(memory)),
        mask_(capacity - 1),
        limits_(limits),
        start_(2 * start),
        waits_(waits),
        tail_(start_),
        head_seen_(start_),
        head_(start_) {
    std::uninitialized_default_construct_n(slots_, capacity);
  }
  // equivalent(delete): the destructor of a place has nothing to give back
  ~MessageRing() { std::destroy_n(slots_, capacity()); }

  std::size_t capacity() const noexcept { return mask_ + 1; }
  Slot& slot(Ticket ticket) const noexcept {
    return slots_[static_cast<std::size_t>(ticket >> 1) & mask_];
  }

  // --- Producers. ---

  // A claim among many: one compare-and-swap.
  Claim claim_among(std::size_t most, Admission admission) noexcept {
    // order: acquire pairs with the release in close_among(): what the closer did before; and with
    // that of the exchange below: room() reads no older head than the claims up to here did.
    Ticket tail = tail_.load(sync::order::acquire);
    for (;;) {
      if (is_closed(tail)) [[unlikely]]
        return {tail, 0, Status::closed};
      const std::size_t count = room(tail, most, admission);
      if (count == 0) return {tail, 0, Status::full};
      // order: release pairs with the acquires of the tail, acquire as above. Places are handed
      // over by states and by the head.
      if (tail_.compare_exchange_weak(tail, tail + 2 * count, sync::order::release,
                                      sync::order::acquire)) {
        return {tail, count};
      }
    }
  }
  // No claim that begins after it succeeds.
  void close_among() noexcept {
    // order: release pairs with the acquire in claim_among(): what the closer did before.
    tail_.fetch_or(kClosed, sync::order::release);
  }

  // A claim alone: plain stores. It is announced before it looks whether the ring is closed, and
  // taken back if so: either the closer sees the claim, or the claim sees the close.
  Claim claim_alone(std::size_t most, Admission admission) noexcept {
    const Ticket tail = this->tail();
    if (is_closed_to_one()) [[unlikely]]
      return {tail, 0, Status::closed};
    const std::size_t count = room(tail, most, admission);
    if (count == 0) return {tail, 0, Status::full};
    announce(tail + 2 * count);
    sync::asymmetric_fence_light();  // partner is the heavy half of the caller of close_alone()
    if (is_closed_to_one()) [[unlikely]] {
      announce(tail);
      return {tail, 0, Status::closed};
    }
    return {tail, count};
  }
  // To be followed by the heavy half of the asymmetric fence.
  void close_alone() noexcept { closed_.close(); }

  // What was put into a claimed place is there.
  void publish(Ticket ticket, Mark mark) noexcept {
    // order: release pairs with the acquire in mark_at().
    slot(ticket).state.store(state_of(ticket) | mark, sync::order::release);
  }
  // A claim that was dropped.
  void skip(Ticket ticket) noexcept {
    dropped_.add(1);
    publish(ticket, kSkipped);
  }

  // --- The consumer. ---

  Ticket head() const noexcept { return head_.own(); }
  // kNothing: it is not there yet.
  Mark mark_at(Ticket ticket) const noexcept {
    // order: acquire pairs with the release in publish(): what lies in the place.
    const std::uint64_t mark = slot(ticket).state.load(sync::order::acquire) - state_of(ticket);
    if (is_message(mark)) [[likely]]
      return static_cast<Mark>(mark);
    return mark == kSkipped ? kSkipped : kNothing;
  }
  // All before `ticket` is free.
  void give_back(Ticket ticket) noexcept {
    head_.move_to(ticket);
    if (waits_ && waiters.sleepers.anybody()) [[unlikely]]
      tell_of_room();
  }
  // Whether all that was claimed has been taken. Once closed, for good: a claim that is taken back
  // was none.
  bool drained() const noexcept { return tail() == head(); }

  // --- Figures of the moment, by any thread. ---

  // Claimed and not yet taken.
  std::size_t depth() const noexcept {
    // The tail below is not older than the head, so the difference is not negative.
    const Ticket head = head_.seen();
    return detail::min(static_cast<std::size_t>((tail() - head) / 2), capacity());
  }
  bool has_room(Admission admission) const noexcept {
    return static_cast<std::int64_t>(depth()) < limits_.most[index_of(admission)];
  }
  std::uint64_t claimed() const noexcept { return (tail() - start_) / 2; }
  std::uint64_t passed() const noexcept { return (head() - start_) / 2; }
  std::uint64_t dropped() const noexcept { return dropped_.get(); }

  RoomWaiters waiters;

 private:
  template <class>
  friend struct Books;

  static constexpr Ticket kClosed = 1;  // in tail_
  static constexpr bool is_closed(Ticket tail) noexcept { return (tail & kClosed) != 0; }
  bool is_closed_to_one() const noexcept { return closed_.is_seen(); }
  static constexpr std::uint64_t state_of(Ticket ticket) noexcept { return ticket << 15; }

  Ticket tail() const noexcept {
    // order: relaxed, a number: what lies before it is told of by states.
    return tail_.load(sync::order::relaxed) & ~kClosed;
  }
  void announce(Ticket tail) noexcept {
    tail_.store(tail,
                sync::order::relaxed);  // order: relaxed, ordered by the fence of claim_alone()
  }

  // How many places behind `tail` this class may claim, `most` at most. If the tail has moved on
  // meanwhile, what this says is of no account, and the exchange fails.
  std::size_t room(Ticket tail, std::size_t most, Admission admission) noexcept {
    std::int64_t left = left_behind(tail, head_seen_.seen(), admission);
    // equivalent(bound) all: one look more at the head; 0 becomes 0
    if (left < static_cast<std::int64_t>(detail::min(most, capacity()))) {
      const Ticket head = head_.seen();
      // equivalent(swap): a variable of the call alone
      // equivalent(delete): only speed: each claim behind the first lap looks at the head
      head_seen_.move_to(head);
      left = left_behind(tail, head, admission);
    }
    return left <= 0 ? 0 : detail::min(most, static_cast<std::size_t>(left));
  }
  std::int64_t left_behind(Ticket tail, Ticket head, Admission admission) const noexcept {
    return limits_.most[index_of(admission)] - static_cast<std::int64_t>(tail - head) / 2;
  }

  [[gnu::noinline]] void tell_of_room() noexcept {
    for (const Admission admission : {Admission::urgent, Admission::normal, Admission::low}) {
      if (has_room(admission)) waiters.events[index_of(admission)].notify_one();
    }
  }

  // Hardly ever written.
  Slot* const slots_;
  const std::size_t mask_;
  const AdmissionLimits limits_;
  const Ticket start_;
  const bool waits_;
  RingClosed closed_;  // of a ring of one

  // The producers' line.
  alignas(sync::destructive_span) sync::atomic<Ticket> tail_;  // of the next claim, | kClosed
  RingPosition head_seen_;  // head_ or before: one producer passes on to the others what it saw
  sync::relaxed<std::uint64_t> dropped_;

  // The consumer's line.
  alignas(sync::destructive_span) RingPosition head_;  // of the next message
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")

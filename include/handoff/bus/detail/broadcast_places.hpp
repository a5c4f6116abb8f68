// SPDX-License-Identifier: MIT
//
// The messages of a broadcast in their places, and which of the places hold one. Not for users.
//
// A message stays in its place until the place is used again, for nobody knows which consumer was
// its last. With one producer a place holds a message from the first lap on. With many, each place
// has a word: the ticket of the message that was published there last, or the ticket with kDropped
// if its claim was given up, and then nothing lies there.
// A value, whose memory the broadcast owns: a loop has a copy of its own, in registers, because
// what is written to messages and atomics could change any member of the broadcast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/config.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T, bool kMany>
class BroadcastPlaces {
  using Ticket = BroadcastTicket;

  struct BarePlace {
    sync::raw_cell<T> item;
  };
  // The word is written last and lies behind: a consumer that looks at it takes its line from the
  // producer.
  struct NumberedPlace {
    sync::raw_cell<T> item;
    sync::atomic<Ticket> last{0};
  };
  using MessagePlace = std::conditional_t<kMany, NumberedPlace, BarePlace>;
  static constexpr Ticket kDropped = 1;

 public:
  using Memory = RingSlots<MessagePlace>;

  // For a broadcast that nobody else knows of yet.
  BroadcastPlaces(const Memory& memory, Ticket start) noexcept
      : first_(&memory[0]), mask_(memory.capacity() - 1), start_(start) {
    if constexpr (kMany) {
      for (std::size_t i = 0; i < capacity(); ++i) {
        const Ticket ticket = start_ + kBroadcastStep * i;
        // order: relaxed, nobody else knows of it yet.
        at(ticket).last.store((ticket - lap()) | kDropped, sync::order::relaxed);
      }
    }
  }
  // Nobody claims or reads any more; `tail` is the next ticket.
  void destroy_all(Ticket tail) const noexcept {
    for (std::size_t i = 0; i < capacity(); ++i) {
      const Ticket ticket = tail + kBroadcastStep * i;
      if (holds(ticket)) at(ticket).item.destroy();
    }
  }

  std::size_t capacity() const noexcept { return mask_ + 1; }
  Ticket lap() const noexcept { return kBroadcastStep * capacity(); }

  T& message(Ticket ticket) const noexcept { return at(ticket).item.write(); }
  const T& read(Ticket ticket) const noexcept { return at(ticket).item.read(); }

  // --- By the holder of the ticket. ---

  template <class... Args>
  T& make(Ticket ticket, Args&&... args) const noexcept {
    MessagePlace& mine = at(ticket);
    if (holds(ticket)) mine.item.destroy();
    return mine.item.construct(std::forward<Args>(args)...);
  }

  // What lies there from a lap ago, or else a new one.
  T& renew(Ticket ticket) const {
    MessagePlace& mine = at(ticket);
    return holds(ticket) ? mine.item.write() : mine.item.construct();
  }

  // The claim of the ticket is given up; `made`: make() or renew() was called. One producer's place
  // goes on as before, many producers' place is bare.
  void unmake(Ticket ticket, bool made) const noexcept {
    const bool held = holds(ticket);
    if (kMany ? held || made : made && !held) at(ticket).item.destroy();
  }

  // --- Many producers. ---

  // How far the place of the ticket is from being done with `ticket`, in messages: 0 published or
  // dropped, below 0 not yet, above 0 used again.
  std::int64_t distance(Ticket ticket) const noexcept {
    // order: acquire pairs with the releases in publish() and drop(): the message is there.
    return messages_between(ticket, at(ticket).last.load(sync::order::acquire));
  }
  // From `first` on, how many are done with their ticket, `most` at most.
  std::size_t done_from(Ticket first, std::size_t most) const noexcept {
    std::size_t count = 0;
    while (count < most && distance(first + kBroadcastStep * count) == 0) ++count;
    return count;
  }
  bool is_dropped(Ticket ticket) const noexcept {
    // order: relaxed, the caller, or the consumer that it comes after, asked distance() before.
    return (at(ticket).last.load(sync::order::relaxed) & kDropped) != 0;
  }
  void publish(Ticket ticket) const noexcept {
    // order: release pairs with the acquire in distance().
    at(ticket).last.store(ticket, sync::order::release);
  }
  void drop(Ticket ticket) const noexcept {
    // order: release pairs with the acquire in distance(): the place is bare.
    at(ticket).last.store(ticket | kDropped, sync::order::release);
  }

 private:
  MessagePlace& at(Ticket ticket) const noexcept {
    return first_[static_cast<std::size_t>(ticket / kBroadcastStep) & mask_];
  }

  // Whether a message lies where the holder of the ticket is going to make one.
  bool holds(Ticket ticket) const noexcept {
    if constexpr (kMany) {
      // order: relaxed, the claim saw it with acquire, and nobody else has written it since.
      return (at(ticket).last.load(sync::order::relaxed) & kDropped) == 0;
    } else {
      return ticket - start_ >= lap();
    }
  }

  MessagePlace* first_;
  std::size_t mask_;
  Ticket start_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

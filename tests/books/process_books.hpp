// SPDX-License-Identifier: MIT
//
// The books of process/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/shared_ticket_ring.hpp>
#include <handoff/process/detail/shared_tickets.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>
#include <handoff/process/shared_ring.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What lies between the ends fits in, and the ring ends among it, if it ends at all.
template <class T>
struct Books<SharedRing<T>> {
  static std::string fault(const SharedRing<T>& ring) {
    const SharedPositions& positions = *ring.positions_;
    const std::uint64_t head = test::now(positions.head);
    const std::uint64_t items = test::now(positions.tail) - head;
    const std::uint64_t end = test::now(positions.end);
    if (items > ring.capacity()) return "SharedRing: more items than places";
    if (end == 0) return {};
    if (!ring.closed()) return "SharedRing: it has an end and is not closed";
    if (end - 1 - head > items) return "SharedRing: its end is not among its items";
    return {};
  }
};

// From the first item on: places that are claimed, full or dropped, then free ones, all of their
// laps. The tail is at the first free one, or at the claim before: what claimed there may have
// died.
template <>
struct Books<SharedTicketRing> {
  static std::string fault(const SharedTicketRing& ring) {
    const SharedTickets& tickets = ring.tickets_;
    const std::uint64_t end = tickets.first() + tickets.capacity();
    std::uint64_t free = tickets.first();
    while (free < end && is_taken(tickets, free)) {
      const std::uint64_t word = test::now(tickets.word(free));
      if (SharedTickets::state_of(word) != SharedTickets::kClaimed) {
        ++free;
        continue;
      }
      if (!has_producer(ring, word)) return "SharedMpscRing: claimed by nobody";
      free += SharedTickets::count_of(word);  // the others are the producer's
    }
    if (free > end) return "SharedMpscRing: a claim of more places than there are";
    const std::uint64_t behind = free - test::now(tickets.words().tail);
    if (behind > SharedTickets::kMostInClaim) return "SharedMpscRing: its tail is elsewhere";
    return fault_behind(ring, free, end);
  }

 private:
  static bool is_of_its_lap(const SharedTickets& tickets, std::uint64_t position) {
    return SharedTickets::lap_of(test::now(tickets.word(position))) ==
           tickets.word_of(position, SharedTickets::kFree);
  }
  static bool is_taken(const SharedTickets& tickets, std::uint64_t position) {
    const std::uint64_t state = SharedTickets::state_of(test::now(tickets.word(position)));
    return is_of_its_lap(tickets, position) &&
           (state == SharedTickets::kClaimed || state == SharedTickets::kFull ||
            state == SharedTickets::kDropped);
  }
  static bool has_producer(const SharedTicketRing& ring, std::uint64_t word) {
    const std::uint64_t slot = (word & SharedTickets::kClaimMask) >> SharedTickets::kStateBits;
    return slot < ring.producers_ && test::now(ring.slots_[slot]) == SharedTicketRing::kPresent;
  }
  // All free, but the first may be sealed.
  static std::string fault_behind(const SharedTicketRing& ring, std::uint64_t free,
                                  std::uint64_t end) {
    const SharedTickets& tickets = ring.tickets_;
    for (std::uint64_t position = free; position != end; ++position) {
      if (!is_of_its_lap(tickets, position)) return "SharedMpscRing: a place of another lap";
      const std::uint64_t word = test::now(tickets.word(position));
      if (word == tickets.word_of(position, SharedTickets::kFree)) continue;
      if (word != tickets.word_of(position, SharedTickets::kSealed) || position != free) {
        return "SharedMpscRing: something behind a free place";
      }
      if (!ring.closed()) return "SharedMpscRing: sealed and not closed";
    }
    return {};
  }
};

template <class T>
struct Books<SharedMpscRing<T>> {
  static SharedTicketRing& inside(SharedMpscRing<T>& ring) { return ring.ring_; }
  static std::string fault(const SharedMpscRing<T>& ring) {
    return Books<SharedTicketRing>::fault(ring.ring_);
  }
};

// After a run: all blocks are over, each of the same run, and what was done had been claimed.
template <>
struct Books<ClaimTable> {
  static std::string fault(const ClaimTable& table) {
    constexpr std::uint32_t all = Claim::most_slots;
    const std::uint64_t run = table.blocks() == 0 ? 0 : table.look(0, all, 0).run;
    for (std::size_t block = 0; block < table.blocks(); ++block) {
      const Claim claim = table.look(run, all, block);
      switch (claim.state) {
        case ClaimState::broken: return "ClaimTable: a word of another run, or of none";
        case ClaimState::free: return "ClaimTable: a block that nobody has claimed";
        case ClaimState::claimed: return "ClaimTable: a block that somebody is at";
        case ClaimState::done:
        case ClaimState::failed:
          if (claim.attempts == 0) return "ClaimTable: done, and nobody had claimed it";
          break;
        case ClaimState::closed: break;
      }
    }
    return {};
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

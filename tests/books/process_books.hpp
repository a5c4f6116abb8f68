// SPDX-License-Identifier: MIT
//
// The books of process/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/process/detail/claim_table.hpp>
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

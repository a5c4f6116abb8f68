// SPDX-License-Identifier: MIT
//
// What the threads of a node's ranks claim their blocks from: two words in memory that the ranks
// share. Not for users. A claim is one fetch-and-add, and what a number means follows from the
// plans (block_plan.hpp).
//
// `ticket_`: the number of the node's block, and that of the next block of it. `spare_`: the node's
// next block, which the first rank of the node has claimed ahead of need. A thread that finds the
// ticket exhausted takes the spare one.
//
// Invariants
//   NC-1  A ticket that is exhausted stays so until the thread that took the spare block replaces
//         it; the first rank lays out no other spare block before it has seen that.
//   NC-2  Each pair of numbers is handed out once: by the fetch-and-add that left it, or, the first
//         of a node's block, to the thread that took the spare.
//
// Concurrency: claim() and stop() by any thread of any rank; lay_out() and is_wanted() by the first
// rank; open() while nobody else is there. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>
#include <optional>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A block, by its number in the node's block, by that one's number in the world.
struct BlockNumber {
  std::uint32_t of_node = 0;
  std::uint32_t in_node = 0;
};

class NodeCounter {
 public:
  static constexpr std::uint32_t no_block = 0xffff'ffff;
  enum class Said : std::uint8_t { claimed, not_yet, none_left };

  NodeCounter() noexcept : ticket_(0), spare_(0), stopped_(0) {}

  // `has_all`: the node is alone, and the world's only block is its own.
  void open(bool has_all) noexcept {
    // order: relaxed, here and below: a message of rank 0 lets the others in, later.
    ticket_.store(has_all ? 0 : packed(no_block, 0), sync::order::relaxed);  // order: as above
    spare_.store(has_all ? kEnd : kNone, sync::order::relaxed);  // order: as above
  }

  // `blocks_of(n)`: how many blocks the node's block n has; none, of no_block.
  template <class BlocksOf>
  Said claim(BlockNumber& number, const BlocksOf& blocks_of) noexcept {
    for (;;) {
      // order: relaxed, a hint that saves adding to an exhausted ticket for ever
      const std::uint64_t seen = ticket_.load(sync::order::relaxed);
      if (in_node(seen) < blocks_of(of_node(seen))) {
        // order: relaxed, all that a claim needs follows from its number; data of blocks is ordered
        // by the messages of a run.
        const std::uint64_t mine = ticket_.fetch_add(1, sync::order::relaxed);
        number = {of_node(mine), in_node(mine)};
        if (number.in_node < blocks_of(number.of_node)) return Said::claimed;
        continue;
      }
      // order: relaxed, as above; the exchange decides which thread gets the spare block.
      std::uint64_t spare = spare_.load(sync::order::relaxed);
      if (spare == kEnd) return Said::none_left;
      if (spare == kNone) {
        // order: relaxed, a hint: who took the spare has not replaced the ticket, or has
        if (ticket_.load(sync::order::relaxed) == seen) return Said::not_yet;
        continue;
      }
      // order: acquire, partner lay_out(): the ticket is at least as new as what it was laid out
      // for; the failure decides nothing.
      if (!spare_.compare_exchange_strong(spare, kNone, sync::order::acquire,
                                          sync::order::relaxed)) {
        continue;
      }
      // order: relaxed, ordered by the acquire above
      const std::uint64_t now = ticket_.load(sync::order::relaxed);
      if (in_node(now) < blocks_of(of_node(now))) {
        // The look above was at an older ticket: this one is not used up.
        spare_.store(spare, sync::order::release);  // order: release, as in lay_out()
        continue;
      }
      number = {static_cast<std::uint32_t>(spare - 1), 0};
      // order: release, partner is_wanted()
      ticket_.store(packed(number.of_node, 1), sync::order::release);  // NC-1
      return Said::claimed;
    }
  }

  // Whether a thread has taken `last`, the block that was laid out last; at first no_block.
  bool is_wanted(std::uint32_t last) const noexcept {
    // order: acquire, partner the store in claim(); lay_out() hands it on
    return of_node(ticket_.load(sync::order::acquire)) == last;
  }
  // The node's next block.
  void lay_out(std::uint32_t number) noexcept {
    // order: release, partner the exchange in claim()
    spare_.store(std::uint64_t{number} + 1, sync::order::release);
  }
  // There is none. Only where one would be wanted.
  void lay_out_end() noexcept {
    spare_.store(kEnd, sync::order::relaxed);  // order: relaxed, as above
  }

  // No rank of the node begins another block of this run. Runs have numbers, as a rank may hear of
  // a stop when the others have left the run.
  void stop(std::uint64_t run) noexcept {
    stopped_.store(run, sync::order::relaxed);  // order: relaxed, a hint
  }
  bool is_stopped(std::uint64_t run) const noexcept {
    return stopped_.load(sync::order::relaxed) == run;  // order: relaxed, nothing comes with it
  }

 private:
  static constexpr std::uint64_t kNone = 0;
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  static std::uint64_t packed(std::uint32_t of_node, std::uint32_t in_node) noexcept {
    return std::uint64_t{of_node} << 32U | in_node;
  }
  static std::uint32_t of_node(std::uint64_t ticket) noexcept {
    return static_cast<std::uint32_t>(ticket >> 32U);
  }
  static std::uint32_t in_node(std::uint64_t ticket) noexcept {
    return static_cast<std::uint32_t>(ticket);
  }

  sync::atomic<std::uint64_t> ticket_;
  sync::atomic<std::uint64_t> spare_;
  sync::atomic<std::uint64_t> stopped_;  // a run; 0: none
};

}}}  // namespace handoff::HANDOFF_ABI::detail

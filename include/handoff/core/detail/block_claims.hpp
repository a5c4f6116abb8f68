// SPDX-License-Identifier: MIT
//
// The counters from which the members of a team claim blocks of [0, count) until none is left.
//
// For: the inside of teams and of parallel loops; it holds no pointer and no lock, so it also works
// in memory that processes share. Not for: users, who have ThreadTeam and parallel_for.
// Each member has a part of the range, where it begins; then it helps in the next ones. So a loop
// that runs again over the same data finds most of it where it was last time, in the caches of the
// same CPU.
// Blocks are guided: each claim takes a fixed portion of what is left of a part, so they begin
// large (few claims) and end small (members finish together).
// Concurrency: claim(), close() and left() by any number of threads; open() while nobody else is
// there. Order: none of its own: it rules out that an index is claimed twice or never, and the data
// behind the indices is ordered by the team that opens and closes.
// Cost: a claim is one successful compare-and-swap. Blocks, allocates, throws: never.
// Source: guided self-scheduling, C. Polychronopoulos and D. Kuck, 1987; affinity scheduling,
// E. Markatos and T. LeBlanc, 1992.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class BlockClaims {
 public:
  // The counters fill a cache line; more members than this share parts.
  static constexpr std::size_t most_parts = 8;

  BlockClaims() noexcept = default;

  // `smallest`: indices in a block, at least 1; the last block of all may have fewer.
  void open(std::size_t count, std::size_t members, std::size_t smallest) noexcept {
    const Plan plan = plan_for(count, members, detail::max<std::size_t>(smallest, 1));
    plan_.write() = plan;
    for (std::size_t part = 0; part < plan.parts; ++part) {
      // order: relaxed, letting the members in publishes it.
      parts_[part].next.store(plan.begin_of(part), sync::order::relaxed);
    }
  }

  std::size_t count() const noexcept { return plan_.read().count; }

  // The most blocks there can be: more members than this find nothing to do.
  std::size_t most_blocks() const noexcept {
    const Plan& plan = plan_.read();
    return blocks_of(plan.count, plan.smallest);
  }

  std::size_t smallest() const noexcept { return plan_.read().smallest; }

  // A block that nobody else gets, of no more than `most` indices where two smallest blocks or more
  // are left of a part; empty once none is left. The same `member` begins in the same part of each
  // run.
  IndexRange claim(std::size_t member = 0, std::size_t most = SIZE_MAX) noexcept {
    const Plan& plan = plan_.read();
    std::size_t part = member % plan.parts;
    for (std::size_t seen = 0; seen < plan.parts; ++seen) {
      const IndexRange block = claim_in(part, plan, most);
      if (!block.empty()) return block;
      part = part + 1 == plan.parts ? 0 : part + 1;
    }
    return {};
  }

  // Takes all that is left from the members; how many indices that was.
  std::size_t close() noexcept {
    const Plan& plan = plan_.read();
    std::size_t left = 0;
    for (std::size_t part = 0; part < plan.parts; ++part) {
      const std::size_t end = plan.end_of(part);
      // order: relaxed, as in claim_in(): the exchange decides between this and a claim.
      left += end - parts_[part].next.exchange(end, sync::order::relaxed);
    }
    return left;
  }

  // Whether a claim might still succeed; a hint.
  bool left() const noexcept {
    const Plan& plan = plan_.read();
    for (std::size_t part = 0; part < plan.parts; ++part) {
      // order: relaxed, a hint
      if (parts_[part].next.load(sync::order::relaxed) < plan.end_of(part)) return true;
    }
    return false;
  }

 private:
  static std::size_t blocks_of(std::size_t count, std::size_t smallest) noexcept {
    return count / smallest + (count % smallest != 0);
  }

  struct Plan {
    std::size_t begin_of(std::size_t part) const noexcept { return part * size; }
    std::size_t end_of(std::size_t part) const noexcept {
      return part + 1 == parts ? count : begin_of(part + 1);
    }

    std::size_t count = 0;
    std::size_t smallest = 1;
    std::size_t size = 0;  // of a part; the last one may be smaller
    std::size_t parts = 1;
    std::size_t portions = 2;  // a block is this portion of what is left of a part
  };

  // Parts are whole blocks, and no part is empty unless all is. No product overflows: with two
  // parts or more, each begins and has its size below `count`.
  static Plan plan_for(std::size_t count, std::size_t members, std::size_t smallest) noexcept {
    Plan plan{.count = count, .smallest = smallest, .size = count};
    const std::size_t blocks = blocks_of(count, smallest);
    const std::size_t wanted = detail::min(members, detail::min(blocks, most_parts));
    if (wanted > 1) {
      const std::size_t blocks_each = blocks_of(blocks, wanted);
      plan.size = blocks_each * smallest;
      plan.parts = blocks_of(blocks, blocks_each);
    }
    plan.portions = 2 * blocks_of(detail::max<std::size_t>(members, 1), plan.parts);
    return plan;
  }

  // All, where less than a smallest block would be left of a part.
  static std::size_t size_of_block(std::size_t left, const Plan& plan, std::size_t most) noexcept {
    const std::size_t size = detail::max(plan.smallest, detail::min(most, left / plan.portions));
    return size >= left || left - size < plan.smallest ? left : size;
  }

  IndexRange claim_in(std::size_t part, const Plan& plan, std::size_t most) noexcept {
    sync::atomic<std::size_t>& next = parts_[part].next;
    const std::size_t end = plan.end_of(part);
    // order: relaxed, here and in the exchange: the counter alone gives an index to a member (each
    // value of it is left by exactly one read-modify-write), and no other data hangs on it.
    std::size_t first = next.load(sync::order::relaxed);
    while (first < end) {
      const std::size_t size = size_of_block(end - first, plan, most);
      // order: relaxed, as above.
      if (next.compare_exchange_weak(first, first + size, sync::order::relaxed,
                                     sync::order::relaxed)) {
        return {first, first + size};
      }
    }
    return {};
  }

  struct Part {
    sync::atomic<std::size_t> next{0};  // of its indices, that nobody has claimed
  };

  sync::cell<Plan> plan_;  // written while nobody else is there
  Part parts_[most_parts];
};

}}}  // namespace handoff::HANDOFF_ABI::detail

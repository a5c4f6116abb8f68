// SPDX-License-Identifier: MIT
//
// One counter from which the members of a team claim blocks of [0, count) until none is left.
//
// For: the inside of teams and of parallel loops; it holds no pointer and no lock, so it also works
// in memory that processes share. Not for: users, who have ThreadTeam and parallel_for.
// Blocks are guided: each claim takes a fixed part of what is left, so they begin large (few
// claims) and end small (members finish together).
// Concurrency: claim(), close() and left() by any number of threads; open() while nobody else is
// there. Order: none of its own: who claims an index twice or never is what it rules out, and the
// data behind the indices is ordered by the team that opens and closes.
// Cost: a claim is one successful compare-and-swap. Blocks, allocates, throws: never.
// Source: guided self-scheduling, C. Polychronopoulos and D. Kuck, 1987.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class BlockClaims {
 public:
  BlockClaims() noexcept : next_(0) {}

  // `smallest`: indices in a block, at least 1; the last block of all may have fewer.
  void open(std::size_t count, std::size_t members, std::size_t smallest) noexcept {
    plan_.write() = {count, 2 * members, detail::max<std::size_t>(smallest, 1)};
    // order: relaxed, published by whoever lets the members in.
    next_.store(0, sync::order::relaxed);
  }

  std::size_t count() const noexcept { return plan_.read().count; }

  // The most blocks there can be: more members than this find nothing to do.
  std::size_t most_blocks() const noexcept {
    const Plan& plan = plan_.read();
    return plan.count / plan.smallest + (plan.count % plan.smallest != 0);
  }

  // A block that nobody else gets; empty once none is left.
  IndexRange claim() noexcept {
    const Plan& plan = plan_.read();
    // order: relaxed, here and in the exchange: the counter alone decides who owns an index (each
    // value of it is left by exactly one read-modify-write), and no other data hangs on it.
    std::size_t first = next_.load(sync::order::relaxed);
    for (;;) {
      if (first >= plan.count) return {};
      const std::size_t left = plan.count - first;
      const std::size_t size = detail::min(left, detail::max(plan.smallest, left / plan.shares));
      // order: relaxed, as above.
      if (next_.compare_exchange_weak(first, first + size, sync::order::relaxed,
                                      sync::order::relaxed)) {
        return {first, first + size};
      }
    }
  }

  // Takes all that is left from the members; how many indices that was.
  std::size_t close() noexcept {
    const std::size_t count = plan_.read().count;
    // order: relaxed, as in claim(): the exchange decides between this and a claim.
    return count - detail::min(count, next_.exchange(count, sync::order::relaxed));
  }

  // Whether a claim might still succeed; a hint.
  bool left() const noexcept {
    // order: relaxed, a hint
    return next_.load(sync::order::relaxed) < plan_.read().count;
  }

 private:
  struct Plan {
    std::size_t count = 0;
    std::size_t shares = 2;  // a block is this part of what is left
    std::size_t smallest = 1;
  };

  sync::cell<Plan> plan_;  // written while nobody else is there
  sync::atomic<std::size_t> next_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

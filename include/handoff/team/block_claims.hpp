// SPDX-License-Identifier: MIT
//
// One counter from which the members of a team claim blocks of [0, count) until none is left.
//
// For: the inside of teams; it holds no pointer and no lock, so it also works in memory that
// processes share. Not for: users, who have ThreadTeam.
// Blocks are guided: each claim takes a fixed part of what is left, so they begin large (few
// claims) and end small (members finish together).
// Concurrency: claim(), close() and left() by any number of threads; open() while nobody else is
// there. Order: none of its own: who claims an index twice or never is what it rules out, and the
// data behind the indices is ordered by the team that opens and closes.
// Cost: a claim is one successful compare-and-swap. Blocks, allocates, throws: never.
// Source: guided self-scheduling, C. Polychronopoulos and D. Kuck, 1987.
#pragma once

#include <algorithm>
#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/sync/atomic.hpp>

namespace handoff::inline HANDOFF_ABI {

class BlockClaims {
 public:
  BlockClaims() noexcept : next_(0) {}

  // `smallest`: indices in a block, at least 1; the last block of all may have fewer.
  void open(std::size_t count, std::size_t members, std::size_t smallest) noexcept {
    count_ = count;
    shares_ = 2 * members;
    smallest_ = std::max<std::size_t>(smallest, 1);
    // order: relaxed, published by whoever lets the members in.
    next_.store(0, sync::order::relaxed);
  }

  // The most blocks there can be: more members than this find nothing to do.
  std::size_t most_blocks() const noexcept {
    return count_ / smallest_ + (count_ % smallest_ != 0);
  }

  // A block that nobody else gets; empty once none is left.
  IndexRange claim() noexcept {
    // order: relaxed, here and in the exchange: the counter alone decides who owns an index (each
    // value of it is left by exactly one read-modify-write), and no other data hangs on it.
    std::size_t first = next_.load(sync::order::relaxed);
    for (;;) {
      if (first >= count_) return {};
      const std::size_t left = count_ - first;
      const std::size_t size = std::min(left, std::max(smallest_, left / shares_));
      // order: relaxed, as above.
      if (next_.compare_exchange_weak(first, first + size, sync::order::relaxed,
                                      sync::order::relaxed)) {
        return {first, first + size};
      }
    }
  }

  // Takes all that is left from the members; how many indices that was.
  std::size_t close() noexcept {
    // order: relaxed, as in claim(): the exchange decides between this and a claim.
    return count_ - std::min(count_, next_.exchange(count_, sync::order::relaxed));
  }

  // Whether a claim might still succeed; a hint.
  bool left() const noexcept {
    return next_.load(sync::order::relaxed) < count_;  // order: relaxed, a hint
  }

 private:
  std::size_t count_ = 0;
  std::size_t shares_ = 2;
  std::size_t smallest_ = 1;
  sync::atomic<std::size_t> next_;
};

}  // namespace handoff::inline HANDOFF_ABI

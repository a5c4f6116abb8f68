// SPDX-License-Identifier: MIT
//
// One run over an index range: the claims, and what became of each index. Not for users.
//
// Each member calls work(). When all are out, one of them, or the thread that waited for them,
// settles. It is small, to lie in a caller's storage; an owner with room keeps it away from what
// others write.
// Concurrency: work() by any number of threads; open() and settle() while nobody is in it, ordered
// against the work by the thread that lets members in and sees them go. Allocates: nothing. Throws:
// never; what a block throws is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include <handoff/config.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class RangeRun {
 public:
  // What work() tells instead of the beginning of a block when it found no more.
  static constexpr std::size_t none_left = SIZE_MAX;

  RangeRun() noexcept : done_(0), failed_(0), cancelled_(0), expired_(0) {}

  void open(std::size_t count, std::size_t members, std::size_t smallest) noexcept {
    claims_.open(count, members, smallest);
  }

  // More members than this find nothing to do.
  std::size_t most_blocks() const noexcept { return claims_.most_blocks(); }

  // Whether a block may be left; a hint.
  bool left() const noexcept { return claims_.left(); }

  // Claims and runs blocks until none is left or the run is given up. `member`: its index, the same
  // in each run. `claimed(first)` hears of each block.
  template <class Claimed>
  void work(std::size_t member, BlockCall call, const void* work, const Until& until,
            const Claimed& claimed) noexcept {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    while (!give_up(until)) {
      const IndexRange block = claims_.claim(member);
      if (block.empty()) {
        claimed(none_left);
        break;
      }
      claimed(block.first);
      (run_block(call, work, block) ? done : failed) += block.size();
    }
    // order: relaxed, published by the thread that sees the members go.
    if (done != 0) done_.fetch_add(done, sync::order::relaxed);
    if (failed != 0) failed_.fetch_add(failed, sync::order::relaxed);  // order: relaxed, as above
  }

  // What was not begun will not be, and counts as cancelled or as expired.
  void cancel_rest() noexcept {
    // order: relaxed, as in work().
    cancelled_.fetch_add(claims_.close(), sync::order::relaxed);
  }
  void expire_rest() noexcept {
    // order: relaxed, as in work().
    expired_.fetch_add(claims_.close(), sync::order::relaxed);
  }

  // Nobody works any more: the books, which are empty again afterwards.
  Tally settle() noexcept;

 private:
  // True if the run has to end; the member that finds out first accounts for all that is left.
  bool give_up(const Until& until) noexcept {
    if (until.stop_requested()) {
      cancel_rest();
      return true;
    }
    if (until.has_deadline() && sync::clock::now() >= until.deadline()) {
      expire_rest();
      return true;
    }
    return false;
  }

  bool run_block(BlockCall call, const void* work, IndexRange block) noexcept {
    return attempt([&] { call(work, block); }, [this]() noexcept { keep_first_failure(); });
  }

  void keep_first_failure() noexcept;

  BlockClaims claims_;

  // Added to once a member.
  sync::atomic<std::uint64_t> done_;
  sync::atomic<std::uint64_t> failed_;
  sync::atomic<std::uint64_t> cancelled_;
  sync::atomic<std::uint64_t> expired_;

  sync::Mutex failure_mutex_;
  std::exception_ptr first_failure_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

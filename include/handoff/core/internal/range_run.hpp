// SPDX-License-Identifier: MIT
//
// The leader of every loop: one run over an index range, its claims, and what became of each index.
// Not for users. Teams and pools add where its members come from (docs/design/bulk.md).
//
// Each member calls work(), or work_and_call(). When all are out, one of them, or the thread that
// waited for them, settles. It is small, to lie in a caller's storage; an owner with room keeps it
// away from what others write.
//
// Invariants
//   RR-1  When all members are out, each index is in a block that has run, or in the rest that was
//         taken by one member. So what has not failed and was not left out is done.
//   RR-2  Members that are called one by one are a chain: each calls one other at most, and looks
//         at `to_come_` before that and never after.
//
// Concurrency: work() by any number of threads; open() and settle() while nobody is in it, ordered
// against the work by the thread that lets members in and sees them go. Allocates: nothing. Throws:
// never; what a block throws is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/detail/block_claims.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/stride.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What becomes of the blocks that nobody has claimed when one throws.
enum class AtFailure : std::uint8_t { others_run, rest_left_out };

class RangeRun {
 public:
  // What work() tells instead of the beginning of a block when it found no more.
  static constexpr std::size_t none_left = SIZE_MAX;

  RangeRun() noexcept : cancelled_(0), expired_(0) {}

  // `members`: the most that work_and_call() brings together, the first one included.
  void open(std::size_t count, std::size_t members, std::size_t smallest,
            AtFailure at_failure = AtFailure::others_run) noexcept {
    claims_.open(count, members, smallest);
    to_come_ = members;
    at_failure_ = at_failure;
  }

  // More members than this find nothing to do.
  std::size_t most_blocks() const noexcept { return claims_.most_blocks(); }

  // Claims and runs blocks, by block(range), until none is left or the run is given up. `member`:
  // its index, the same in each run. `claimed(first)` hears of each block before it runs. Where
  // `until` can end, blocks are as small as Stride says.
  template <class Block, class Claimed>
  void work(std::size_t member, const Block& block, const Until& until,
            const Claimed& claimed) noexcept {
    Stride stride;
    const bool can_end = until.can_end();
    while (!can_end || !give_up(until, stride)) {
      const IndexRange range = claims_.claim(member, stride.most);
      if (range.empty()) return claimed(none_left);
      stride.taken = range.size();
      claimed(range.first);
      (void)attempt([&] { block(range); }, [&]() noexcept { keep_failure(range.size()); });
    }
  }

  // The same, and with its first block, if more are left, the member calls the next one by call().
  // A call that throws is none: the run has members enough.
  template <class Block, class Call>
  void work_and_call(std::size_t member, const Block& block, const Until& until,
                     const Call& call) noexcept {
    bool has_called = false;
    work(member, block, until, [&](std::size_t) noexcept {
      if (std::exchange(has_called, true) || to_come_ <= 1 || !claims_.left()) return;
      --to_come_;  // RR-2
      (void)attempt(call);
    });
  }

  // What was not begun will not be, and counts as cancelled or as expired.
  void cancel_rest() noexcept {
    // order: relaxed, published by the thread that sees the members go.
    cancelled_.fetch_add(claims_.close(), sync::order::relaxed);
  }
  void expire_rest() noexcept {
    // order: relaxed, as in cancel_rest().
    expired_.fetch_add(claims_.close(), sync::order::relaxed);
  }

  // Nobody works any more: the books, which are empty again afterwards.
  Tally settle() noexcept;

 private:
  // True if the run has to end; the member that finds out first accounts for all that is left.
  bool give_up(const Until& until, Stride& stride) noexcept;

  void keep_failure(std::size_t size) noexcept;

  BlockClaims claims_;
  std::size_t to_come_ = 0;  // of the chain, with the member that looks; RR-2

  sync::atomic<std::uint64_t> cancelled_;
  sync::atomic<std::uint64_t> expired_;

  std::uint64_t failed_ = 0;
  std::exception_ptr first_failure_;
  sync::Mutex failure_mutex_;  // of these two
  AtFailure at_failure_ = AtFailure::others_run;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// How a rank that looks for messages sleeps until there may be one: a word in memory that the ranks
// of a node share. MPI itself has no way to sleep. Not for users.
//
// The owner takes heard() before it looks around, and sleeps with that if it found nothing: what is
// sent and rung for after the look ends the sleep, or keeps it from beginning.
//
// Concurrency: ring() by any thread of any rank of the node; the rest by the owner. Blocks:
// sleep(). Allocates, throws: never.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/park.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class alignas(sync::cache_line) RankBell {
 public:
  RankBell() noexcept : rings_(0) {}

  std::uint32_t heard() const noexcept {
    // order: acquire, partner ring(): the look comes after it.
    return rings_.load(sync::order::acquire);
  }
  void sleep(std::uint32_t heard, sync::Deadline deadline) noexcept {
    std::uint32_t seen = heard;
    // order: relaxed, the word's own order decides: a ring comes before the mark, which then fails,
    // or sees it.
    if (!rings_.compare_exchange_strong(seen, heard | kAsleep, sync::order::relaxed,
                                        sync::order::relaxed)) {
      return;
    }
    (void)sync::park(rings_, heard | kAsleep, deadline, sync::ParkScope::shared);
    rings_.fetch_and(~kAsleep, sync::order::relaxed);  // order: relaxed, as above
  }
  void ring() noexcept {
    // order: release, partner heard(): what is rung for is seen by the next look.
    const std::uint32_t before = rings_.fetch_add(kRing, sync::order::release);
    if ((before & kAsleep) != 0) (void)sync::unpark(rings_, 1, sync::ParkScope::shared);
  }

 private:
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kRing = 2;

  sync::atomic<std::uint32_t> rings_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

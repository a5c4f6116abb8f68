// SPDX-License-Identifier: MIT
//
// At most one line a second, and how many were left out.
//
// Concurrency: any thread. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <limits>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class LineLimit {
 public:
  static constexpr std::int64_t kPause_ns = 1'000'000'000;

  // Whether a line may be written at this moment; else it counts as left out.
  bool may(std::int64_t now_ns) noexcept {
    // order: relaxed, here and below: numbers that bring nothing.
    std::int64_t next = next_ns_.load(sync::order::relaxed);
    const auto claim = [&]() noexcept {
      // order: relaxed, see above
      return next_ns_.compare_exchange_strong(next, now_ns + kPause_ns, sync::order::relaxed,
                                              sync::order::relaxed);
    };
    if (now_ns >= next && claim()) return true;
    left_out_.fetch_add(1, sync::order::relaxed);  // order: relaxed, see above
    return false;
  }

  // How many were left out since the last call.
  std::uint64_t take_left_out() noexcept {
    return left_out_.exchange(0, sync::order::relaxed);  // order: relaxed, see above
  }

 private:
  sync::atomic<std::int64_t> next_ns_{std::numeric_limits<std::int64_t>::min()};
  sync::atomic<std::uint64_t> left_out_{0};
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// How many indices a thread takes at a time where a deadline or a stop may end the loop: so many
// that it looks about once in a given time. Not for users.
//
// First the fewest, then twice as many as long as that takes less than half of the time.
// Concurrency: one thread's own. Allocates, throws: never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Stride {
  // After `taken` indices, of which there were fewer than `most` where no more were to be had: that
  // says how long an index takes, but not that a longer stride takes little.
  void look(sync::Deadline now, std::size_t fewest, sync::clock::duration time) noexcept {
    const sync::clock::duration took = now - std::exchange(looked_at, now);
    if (taken == 0) {
      most = fewest;
    } else if (took < time / 2) {
      most = max(most, taken <= SIZE_MAX / 2 ? 2 * taken : SIZE_MAX);
    } else if (took >= 2 * time) {
      most = max(fewest, taken / 2);
    }
  }

  std::size_t most = SIZE_MAX;  // that may be taken next
  std::size_t taken = 0;  // the last time; 0: there was none
  sync::Deadline looked_at = {};
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// Takes one from a count of what is left: places, calls, threads too many. Not for users.
//
// Concurrency: any thread. Blocks, allocates, throws: never.
// Order: what was done before a part of the count was given by a release comes before the taking.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Returns how many there were, this one among them; 0: there was none, and the count stays as it
// is. A count of less than 0 is none too.
template <class T>
T take_one(sync::atomic<T>& count) noexcept {
  T left = count.load(sync::order::relaxed);  // order: relaxed, the exchange decides
  while (left > 0) {
    // order: acquire pairs with the release of the thread that gives, where there is one.
    if (count.compare_exchange_weak(left, left - 1, sync::order::acquire, sync::order::relaxed)) {
      return left;
    }
  }
  return 0;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

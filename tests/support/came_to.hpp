// SPDX-License-Identifier: MIT
//
// A Tally, compared with the one that a test expects.
#pragma once

#include <gtest/gtest.h>

#include <handoff/core/tally.hpp>

namespace handoff::test {

// Whether so many items had each outcome, and none is unaccounted for. `accepted` need not be said:
// it is the sum.
inline testing::AssertionResult came_to(const Tally& is, const Tally& expected) {
  if (is.balanced() && is.done == expected.done && is.failed == expected.failed &&
      is.cancelled == expected.cancelled && is.expired == expected.expired &&
      is.pending == expected.pending) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << is.accepted << " accepted: " << is.done << " done, "
                                     << is.failed << " failed, " << is.cancelled << " cancelled, "
                                     << is.expired << " expired, " << is.pending << " pending";
}

}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// Backoff: when it says that it is time to sleep, and what it does until then.
#include <gtest/gtest.h>

#include <cstddef>
#include <handoff/sync/backoff.hpp>
#include <vector>

#include "support/failing.hpp"

namespace {

using handoff::sync::Backoff;
using handoff::sync::Spin;

std::size_t yields() { return handoff::test::calls(handoff::test::Call::yield); }

// How often each snooze yields, until it is time to sleep.
std::vector<std::size_t> snooze_to_the_end(Backoff& backoff) {
  std::vector<std::size_t> each;
  for (std::size_t before = yields(); backoff.snooze(); before = yields()) {
    each.push_back(yields() - before);
  }
  return each;
}

TEST(Backoff, PausesThenYieldsThenIsSpent) {
  Backoff backoff(Spin::allowed);
  std::vector<std::size_t> expected(14, 0);
  expected.insert(expected.end(), 4, 1);
  EXPECT_EQ(snooze_to_the_end(backoff), expected);
  EXPECT_FALSE(backoff.snooze());
  backoff.reset();
  EXPECT_EQ(snooze_to_the_end(backoff), expected);
}

TEST(Backoff, IsSpentFromTheStartWhereNobodyElseRuns) {
  Backoff backoff(Spin::never);
  EXPECT_FALSE(backoff.snooze());
  backoff.reset();
  EXPECT_FALSE(backoff.snooze());
}

TEST(Backoff, LosingRacesCountsForTheFirstPausesOnly) {
  Backoff backoff(Spin::allowed);
  const std::size_t before = yields();
  for (int i = 0; i < 100; ++i) backoff.spin();
  EXPECT_EQ(yields(), before);
  EXPECT_EQ(snooze_to_the_end(backoff).size(), 8U + 4U);
}

TEST(Backoff, WhoCannotSleepYieldsAndBeginsAgain) {
  Backoff backoff(Spin::allowed);
  (void)snooze_to_the_end(backoff);
  std::size_t before = yields();
  backoff.snooze_on();
  EXPECT_EQ(yields() - before, 1U);
  EXPECT_EQ(snooze_to_the_end(backoff).size(), 18U);
  Backoff never(Spin::never);
  before = yields();
  for (int i = 0; i < 3; ++i) never.snooze_on();
  EXPECT_EQ(yields() - before, 3U);
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// Backoff: when it says that it is time to sleep, and what it does until then. A team's patience,
// which is made of it.
#include <handoff/sync/internal/work_patience.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::sync;

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

// ---- The patience of a team's members -----------------------------------------------------------

// How often they look, if what they look for comes with look number `there`.
std::size_t looks(std::size_t there, std::chrono::nanoseconds worked, Spin spin) {
  std::size_t looks = 0;
  const auto began = handoff::sync::clock::now() - worked;
  handoff::sync::look_for_work([&] { return ++looks >= there; }, began, spin);
  return looks;
}

TEST(WorkPatience, LooksUntilItIsThere) {
  constexpr std::chrono::hours long_ago(1);
  EXPECT_EQ(looks(1, long_ago, Spin::allowed), 1U);
  EXPECT_EQ(looks(18, long_ago, Spin::allowed), 18U);
  EXPECT_EQ(looks(1000, long_ago, Spin::allowed), 1000U);
}

TEST(WorkPatience, EndsInVain) {
  constexpr std::size_t never = ~std::size_t{0};
  EXPECT_GE(looks(never, std::chrono::nanoseconds(0), Spin::allowed), 18U + 1U);
  EXPECT_GE(looks(never, std::chrono::milliseconds(1), Spin::allowed), 18U + 1U);
}

TEST(WorkPatience, EndsAfterTheMostThatIsAllowed) {
  const auto began = handoff::sync::clock::now() - std::chrono::hours(1000);
  handoff::sync::look_for_work([] { return false; }, began, Spin::allowed,
                               std::chrono::microseconds(1));
}

TEST(WorkPatience, LooksNotAtAllWhereNothingElseRuns) {
  EXPECT_EQ(looks(1, std::chrono::hours(1), Spin::never), 0U);
}

}  // namespace

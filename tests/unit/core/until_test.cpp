// SPDX-License-Identifier: MIT
//
// Until: what each way to make one means.
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

// What a waiting call sees.
struct Seen {
  bool deadline;
  bool stop_possible;
  bool stop_requested;
  bool operator==(const Seen&) const = default;
};
Seen see(Until until) {
  return {until.has_deadline(), until.stop_possible(), until.stop_requested()};
}

TEST(Until, NothingIsForEver) {
  EXPECT_EQ(see({}), (Seen{false, false, false}));
  EXPECT_EQ(Until().deadline(), sync::no_deadline);
  EXPECT_FALSE(Until().stop_token().stop_possible());
}

TEST(Until, ADurationCountsFromNow) {
  const auto before = sync::clock::now();
  const Until until(10s);
  const auto after = sync::clock::now();
  EXPECT_GE(until.deadline(), before + 10s);
  EXPECT_LE(until.deadline(), after + 10s);
}

TEST(Until, OfNothingOrLessHasPassed) {
  for (const auto none : {0ns, -5ns, std::chrono::nanoseconds::min()}) {
    const Until until(none);
    EXPECT_LE(until.deadline(), sync::clock::now());
  }
}

TEST(Until, TooFarAwayNeverComes) {
  EXPECT_FALSE(see(std::chrono::hours::max()).deadline);
  EXPECT_FALSE(see(std::chrono::duration<double>(1e300)).deadline);
  EXPECT_FALSE(see(steady_clock::time_point::max()).deadline);
  EXPECT_FALSE(see(sync::no_deadline).deadline);
}

// Both clocks are CLOCK_MONOTONIC, so a moment of one is a moment of the other.
TEST(Until, AMomentOfTheSteadyClockIsTheSameMoment) {
  const auto before = sync::clock::now();
  const Until until(steady_clock::now());
  const auto after = sync::clock::now();
  EXPECT_GE(until.deadline(), before);
  EXPECT_LE(until.deadline(), after);
}

TEST(Until, RefusesTheWallClock) {
  static_assert(!std::is_constructible_v<Until, std::chrono::system_clock::time_point>);
  static_assert(std::is_constructible_v<Until, steady_clock::time_point>);
}

TEST(Until, ListensToAStopToken) {
  sync::StopSource source;
  const sync::StopToken token = source.token();
  const Until until(token);
  EXPECT_EQ(see(until), (Seen{false, true, false}));
  source.request_stop();
  EXPECT_EQ(see(until), (Seen{false, true, true}));
  EXPECT_TRUE(until.stop_token().stop_requested());
  EXPECT_EQ(see(sync::StopToken()), (Seen{false, false, false}));
}

TEST(Until, IsMadeOfOneThatIsKept) {
  std::stop_source source;
  const KeptUntil kept{10s, source.get_token()};
  const auto seen_by = [](const Until& until) { return see(until); };
  EXPECT_EQ(seen_by(kept), (Seen{true, true, false}));
  EXPECT_EQ(seen_by(KeptUntil()), (Seen{false, false, false}));
  source.request_stop();
  EXPECT_EQ(seen_by(AlgorithmOptions{.until = kept}.until), (Seen{true, true, true}));
  EXPECT_EQ(seen_by({kept, sync::StopToken()}), (Seen{true, false, false}));
}

TEST(Until, ListensToAStandardStopToken) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  const Until until(token);
  EXPECT_EQ(see(until), (Seen{false, true, false}));
  const sync::StopToken own = until.stop_token();
  EXPECT_FALSE(own.stop_requested());
  source.request_stop();
  EXPECT_EQ(see(until), (Seen{false, true, true}));
  EXPECT_TRUE(own.stop_requested());
  EXPECT_EQ(see(std::stop_token()), (Seen{false, false, false}));
}

TEST(Until, TakesATimeAndAStop) {
  sync::StopSource source;
  const sync::StopToken token = source.token();
  std::stop_source standard;
  const std::stop_token standard_token = standard.get_token();
  EXPECT_EQ(see({10s, token}), (Seen{true, true, false}));
  EXPECT_EQ(see({steady_clock::now(), standard_token}), (Seen{true, true, false}));
  source.request_stop();
  EXPECT_EQ(see({sync::clock::now(), token}), (Seen{true, true, true}));
  EXPECT_EQ(see({10s, standard_token}), (Seen{true, true, false}));
}

// The later word counts: one stop at a time.
TEST(Until, AnotherStopTakesThePlaceOfTheFirst) {
  sync::StopSource first;
  first.request_stop();
  const sync::StopToken first_token = first.token();
  const std::stop_token second_token;
  const Until both(Until(10s, first_token), second_token);
  EXPECT_EQ(see(both), (Seen{true, false, false}));
}

Seen see_kept(const KeptUntil& until) {
  return {until.has_deadline(), until.stop_token().stop_possible(),
          until.stop_token().stop_requested()};
}

TEST(KeptUntilTest, IsMadeOfWhatAnUntilIsMadeOf) {
  std::stop_source source;
  sync::StopSource own;
  const auto moment = steady_clock::now();
  EXPECT_EQ(see_kept({}), (Seen{false, false, false}));
  EXPECT_EQ(see_kept(10s), (Seen{true, false, false}));
  EXPECT_EQ(see_kept(std::chrono::hours::max()), (Seen{false, false, false}));
  EXPECT_EQ(KeptUntil(moment).deadline(), moment);
  EXPECT_EQ(KeptUntil(std::chrono::time_point_cast<std::chrono::hours>(moment)).deadline(),
            std::chrono::time_point_cast<std::chrono::hours>(moment));
  EXPECT_EQ(see_kept(source.get_token()), (Seen{false, true, false}));
  EXPECT_EQ(see_kept(own.token()), (Seen{false, true, false}));
  EXPECT_EQ(see_kept({10s, source.get_token()}), (Seen{true, true, false}));
  EXPECT_EQ(see_kept({moment, own.token()}), (Seen{true, true, false}));
  const sync::StopToken token = own.token();
  EXPECT_EQ(see_kept(Until(10s, token)), (Seen{true, true, false}));
}

TEST(KeptUntilTest, OwnsItsToken) {
  sync::StopSource source;
  std::stop_source standard;
  KeptUntil own = source.token();
  const KeptUntil copy = own;
  const KeptUntil other = standard.get_token();
  own = {};
  EXPECT_EQ(see_kept(own), (Seen{false, false, false}));
  source.request_stop();
  standard.request_stop();
  EXPECT_EQ(see_kept(copy), (Seen{false, true, true}));
  EXPECT_EQ(see_kept(other), (Seen{false, true, true}));
}

}  // namespace

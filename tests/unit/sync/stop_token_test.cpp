// SPDX-License-Identifier: MIT
//
// StopSource, StopToken, StopCallback: each callback exactly once, none after its destructor.
#include "support/test.hpp"

namespace {

using namespace handoff::sync;

void count(void* counter) noexcept { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST(StopToken, FollowsWhatItWasAssigned) {
  StopSource first;
  StopSource second;
  StopToken token = first.token();
  token = second.token();
  first.request_stop();
  EXPECT_FALSE(token.stop_requested());
  second.request_stop();
  EXPECT_TRUE(token.stop_requested());
  token = StopToken();
  EXPECT_FALSE(token.stop_possible());
}

TEST(StopSource, OneThatWasMovedFromStopsNothing) {
  StopSource source;
  StopSource moved(std::move(source));
  EXPECT_FALSE(source.request_stop());  // NOLINT(bugprone-use-after-move): this is what it asks
  EXPECT_FALSE(moved.stop_requested());
  EXPECT_TRUE(moved.request_stop());
}

TEST(StopToken, AnEmptyOneNeverStops) {
  const StopToken token;
  EXPECT_FALSE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  std::atomic<int> calls{0};
  {
    const StopCallback callback(token, count, &calls);
  }
  EXPECT_EQ(calls, 0);
}

TEST(StopToken, HearsTheFirstRequestOnly) {
  StopSource source;
  const StopToken token = source.token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  EXPECT_TRUE(source.request_stop());
  EXPECT_FALSE(source.request_stop());
  EXPECT_TRUE(token.stop_requested());
}

TEST(StopToken, OutlivesItsSource) {
  std::optional<StopSource> source(std::in_place);
  const StopToken token = source->token();
  source->request_stop();
  source.reset();
  EXPECT_TRUE(token.stop_requested());
}

TEST(StopToken, MayBeDroppedBeforeTheStandardOneStops) {
  std::stop_source standard;
  {
    const StopToken token = standard.get_token();
  }
  EXPECT_TRUE(standard.request_stop());
}

TEST(StopCallback, RunsInTheConstructorIfLate) {
  StopSource source;
  source.request_stop();
  std::atomic<int> calls{0};
  const StopCallback callback(source.token(), count, &calls);
  EXPECT_EQ(calls, 1);
}

}  // namespace

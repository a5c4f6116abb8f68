// SPDX-License-Identifier: MIT
//
// StopSource, StopToken, StopCallback: each callback exactly once, none after its destructor.
#include <gtest/gtest.h>

#include <atomic>
#include <handoff/sync/stop_token.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "support/support.hpp"

namespace {

using handoff::sync::StopCallback;
using handoff::sync::StopSource;
using handoff::sync::StopToken;

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

TEST(StopToken, FollowsAStandardOne) {
  std::stop_source standard;
  const StopToken token = standard.get_token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  std::atomic<int> calls{0};
  const StopCallback callback(token, count, &calls);
  standard.request_stop();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(StopToken(std::stop_token{}).stop_possible());
  EXPECT_TRUE(StopToken(standard.get_token()).stop_requested());
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

TEST(StopCallback, AllRunOnceAndTheWithdrawnDoNot) {
  StopSource source;
  std::atomic<int> calls{0};
  const StopCallback first(source.token(), count, &calls);
  std::optional<StopCallback> withdrawn(std::in_place, source.token(), count, &calls);
  const StopCallback last(source.token(), count, &calls);
  withdrawn.reset();
  source.request_stop();
  EXPECT_EQ(calls, 2);
}

TEST(StopCallback, MayDestroyItself) {
  StopSource source;
  std::unique_ptr<StopCallback> callback;
  callback = std::make_unique<StopCallback>(
      source.token(),
      [](void* self) noexcept { static_cast<std::unique_ptr<StopCallback>*>(self)->reset(); },
      &callback);
  source.request_stop();
  EXPECT_EQ(callback, nullptr);
}

TEST(StopCallback, DestructorWaitsForACallThatRunsElsewhere) {
  struct Shared {
    std::atomic<bool> entered{false};
    std::atomic<bool> may_leave{false};
    std::atomic<bool> left{false};
  } shared;
  StopSource source;
  std::optional<StopCallback> callback(
      std::in_place, source.token(),
      [](void* argument) noexcept {
        auto& s = *static_cast<Shared*>(argument);
        s.entered = true;
        while (!s.may_leave) std::this_thread::yield();
        s.left = true;
      },
      &shared);
  std::thread stopper([&] { source.request_stop(); });
  while (!shared.entered) std::this_thread::yield();
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    shared.may_leave = true;
  });
  callback.reset();
  EXPECT_TRUE(shared.left);
  stopper.join();
  releaser.join();
}

// A callback comes and goes while the stop is requested: it runs exactly once or, withdrawn in
// time, never; and never after its destructor (ASan and TSan watch the counter's stack).
TEST(StopCallback, RacesOfComingGoingAndStopping) {
  std::size_t ran = 0;
  const std::size_t rounds = handoff::test::rounds(5'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    StopSource source;
    std::atomic<bool> go{false};
    std::thread stopper([&] {
      while (!go) std::this_thread::yield();
      source.request_stop();
    });
    go = true;
    {
      std::atomic<int> calls{0};
      {
        const StopCallback callback(source.token(), count, &calls);
      }
      ASSERT_LE(calls, 1);
      ran += calls == 1;
    }
    stopper.join();
  }
  RecordProperty("ran", static_cast<int>(ran));
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// Frames: what was made stays until its frame is over, and as long as it is held; a frame that is
// held is waited for, as long as one likes; a reader that comes later is caught where a build can
// catch it.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace frame_test { namespace {

using namespace std::chrono_literals;
using namespace handoff;
using handoff::test::Call;

TEST(Frame, NumbersGoUp) {
  Frame frame({.in_flight = 3});
  EXPECT_EQ(frame.in_flight(), 3U);
  for (std::uint64_t number = 1; number < 20; ++number) {
    EXPECT_EQ(frame.number(), number);
    EXPECT_TRUE(frame.alive(number));
    EXPECT_EQ(frame.alive(number - 2), number > 2);
    EXPECT_FALSE(frame.alive(number + 1)) << "not yet";
    EXPECT_FALSE(number > 3 && frame.alive(number - 3));
    EXPECT_FALSE(frame.alive(0));
    EXPECT_EQ(frame.next(), Status::ok);
  }
}

TEST(Frame, WhatWasMadeStaysForSoManyFrames) {
  for (const std::size_t in_flight : {1U, 2U, 5U, 64U}) {
    Frame frame({.in_flight = in_flight, .chunk_bytes = 1024});
    std::vector<std::uint64_t*> made(in_flight);
    for (std::uint64_t number = 1; number < 200; ++number) {
      made[number % in_flight] = frame.arena().make<std::uint64_t>(number);
      for (std::uint64_t back = 0; back < std::min<std::uint64_t>(in_flight, number); ++back) {
        ASSERT_EQ(*made[(number - back) % in_flight], number - back);
      }
      ASSERT_EQ(frame.next(), Status::ok);
    }
    EXPECT_LE(frame.memory(), in_flight * 1024) << "memory is used again";
  }
}

TEST(Frame, MemoryIsThatOfAllItsFrames) {
  Frame frame({.in_flight = 3, .chunk_bytes = 1024});
  EXPECT_EQ(frame.memory(), 0U);
  for (std::size_t i = 1; i <= 3; ++i) {
    (void)frame.allocate(100);
    EXPECT_EQ(frame.memory(), i * 1024);
    ASSERT_EQ(frame.next(), Status::ok);
  }
  (void)frame.allocate(100);
  EXPECT_EQ(frame.memory(), 3U * 1024);
}

TEST(FrameDeathTest, AHoldEndsBeforeIt) {
  auto frame = std::make_unique<Frame>();
  Frame::Hold hold = frame->hold();
  EXPECT_DEATH(frame.reset(), "held");
  hold.release();
}

TEST(Frame, AHoldKeepsIt) {
  Frame frame({.in_flight = 2});
  int* const made = frame.arena().make<int>(7);
  Frame::Hold hold = frame.hold();
  EXPECT_TRUE(hold);
  EXPECT_EQ(hold.number(), 1U);
  EXPECT_EQ(frame.next(), Status::ok) << "there is a second one";
  EXPECT_EQ(frame.next(1ms), Status::timed_out);
  EXPECT_EQ(frame.number(), 2U) << "it goes on";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(frame.next(stop.get_token()), Status::stopped);
  EXPECT_EQ(*made, 7);
  Frame::Hold again = frame.try_hold(1);
  EXPECT_TRUE(again) << "it is still there";
  hold.release();
  hold.release();
  EXPECT_FALSE(hold);
  EXPECT_EQ(frame.next(0ms), Status::timed_out) << "held once more";
  again = Frame::Hold();
  EXPECT_EQ(frame.next(), Status::ok);
  EXPECT_FALSE(frame.try_hold(1)) << "gone";
  EXPECT_FALSE(frame.try_hold(0));
  EXPECT_FALSE(frame.try_hold(100));
}

TEST(Frame, HoldsMove) {
  Frame frame({.in_flight = 1});
  Frame::Hold hold = frame.hold();
  Frame::Hold other(std::move(hold));
  EXPECT_FALSE(hold);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(hold.number(), 0U);
  Frame::Hold third;
  third = std::move(other);
  EXPECT_EQ(third.number(), 1U);
  EXPECT_EQ(frame.next(0ms), Status::timed_out);
  std::thread([mine = std::move(third)]() mutable { mine.release(); }).join();
  EXPECT_EQ(frame.next(), Status::ok);
}

TEST(Frame, NumbersOfFramesThatCannotBe) {
  EXPECT_THROW(Frame({.in_flight = 0}), std::logic_error);
  EXPECT_THROW(Frame({.in_flight = 65}), std::logic_error);
}

TEST(Frame, AFailedAllocationLeavesItUsable) {
  const int places = handoff::test::until_enough_memory([] {
    Frame frame;
    for (int i = 0; i < 5; ++i) {
      (void)handoff::test::had_memory([&] { EXPECT_EQ(*frame.arena().make<int>(i), i); });
      EXPECT_EQ(*frame.arena().make<int>(i), i);
      ASSERT_EQ(frame.next(), Status::ok);
    }
  });
  EXPECT_GE(places, 3);
}

TEST(FrameDeathTest, WhoReadsAFrameThatIsOverIsCaught) {
  if constexpr (handoff::sync::poison_is_seen) {
    Frame frame({.in_flight = 2});
    const int* const made = frame.arena().make<int>(7);
    ASSERT_EQ(frame.next(), Status::ok);
    EXPECT_EQ(*made, 7);
    ASSERT_EQ(frame.next(), Status::ok);
    int read = 0;
    EXPECT_DEATH(read = *made, "use-after-poison");
    EXPECT_EQ(read, 0);
  }
}

}}  // namespace frame_test

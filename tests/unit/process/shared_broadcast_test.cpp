// SPDX-License-Identifier: MIT
//
// SharedBroadcast: consumers that are lapped, late or killed, and a killed producer. The rest is in
// shared_rings_test.cpp.
#include "forked.hpp"
#include "shared_item.hpp"
#include "support/test.hpp"

namespace shared_broadcast_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using Messages = SharedBroadcast<Message>;

using MadeBroadcast = RingInPages<Messages>;

TEST(SharedBroadcast, EachConsumerSeesEachMessage) {
  MadeBroadcast made(3);  // 4 places
  EXPECT_EQ(made.ring.capacity(), 4U);
  Messages::Producer out(made.ring);
  Messages::Consumer one(made.ring);
  Messages::Consumer two(Messages::attach(made.pages.bytes()));
  Message message{};
  EXPECT_EQ(one.try_pop(message), Status::empty);
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(out.push(message_of(i)), Status::ok);
    EXPECT_EQ(one.behind(), 1U);
    ASSERT_EQ(one.pop(message), Status::ok);
    EXPECT_EQ(message.number, i);
    EXPECT_EQ(two.consume([&](const Message& next) { EXPECT_EQ(next.number, i); }), 1U);
  }
  EXPECT_EQ(one.lost() + two.lost(), 0U);
  out.close();
  EXPECT_TRUE(made.ring.closed());
  EXPECT_EQ(one.pop(message), Status::closed);
  EXPECT_EQ(two.try_pop(message), Status::closed);
}

TEST(SharedBroadcast, ALappedConsumerLosesTheOldestAndCounts) {
  MadeBroadcast made(4);
  Messages::Producer out(made.ring);
  Messages::Consumer in(made.ring);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(out.push(message_of(i)), Status::ok);
  EXPECT_EQ(in.behind(), 10U);
  std::uint64_t next = 6;
  EXPECT_EQ(in.consume([&](const Message& message, std::uint64_t sequence) {
    EXPECT_EQ(message.number, next);
    EXPECT_EQ(sequence, next++);
  }),
            4U);
  EXPECT_EQ(next, 10U);
  EXPECT_EQ(in.lost(), 6U);
}

TEST(SharedBroadcast, JoiningNowOrWithWhatIsThere) {
  MadeBroadcast made(4);
  Messages::Producer out(made.ring);
  using From = Messages::From;
  ASSERT_EQ(out.push(message_of(0)), Status::ok);
  Messages::Consumer early(made.ring, From::oldest);
  for (std::uint64_t i = 1; i < 6; ++i) ASSERT_EQ(out.push(message_of(i)), Status::ok);
  Messages::Consumer now(made.ring);
  Messages::Consumer oldest(made.ring, From::oldest);
  Message message{};
  EXPECT_EQ(now.try_pop(message), Status::empty);
  ASSERT_EQ(oldest.try_pop(message), Status::ok);
  EXPECT_EQ(message.number, 2U);
  EXPECT_EQ(oldest.lost(), 0U);
  ASSERT_EQ(early.try_pop(message), Status::ok);
  EXPECT_EQ(message.number, 2U);
  EXPECT_EQ(early.lost(), 2U);
}

TEST(SharedBroadcast, WhatCannotBeIsRefused) {
  EXPECT_THROW((void)Messages::bytes_for(0), std::logic_error);
  MadeBroadcast made(4);
  EXPECT_THROW(SharedRing<Message>::attach(made.pages.bytes()), std::system_error);
  EXPECT_THROW(SharedBroadcast<int>::attach(made.pages.bytes()), std::system_error);
  struct Odd {  // of the size of an item of three words, with bytes to spare
    std::uint32_t numbers[5];
  };
  CommonPages pages(SharedBroadcast<Odd>::bytes_for(1));
  auto odd = SharedBroadcast<Odd>::create(pages.bytes(), 1);
  SharedBroadcast<Odd>::Consumer in(odd);
  SharedBroadcast<Odd>::Producer out(odd);
  Odd found{};
  ASSERT_EQ(out.push({{1, 2, 3, 4, 5}}), Status::ok);
  ASSERT_EQ(in.try_pop(found), Status::ok);
  EXPECT_EQ(found.numbers[4], 5U);
}

// A consumer that only polls needs no more than to read.
TEST(SharedBroadcast, AConsumerThatNeverWaitsWritesNothing) {
  MadeBroadcast made(4);
  Messages::Producer out(made.ring);
  ASSERT_EQ(out.push(message_of(0)), Status::ok);
  ForkedChild child([&] {
    ::mprotect(made.pages.bytes().data(), made.pages.bytes().size(), PROT_READ);
    Messages::Consumer in(Messages::attach(made.pages.bytes()), Messages::From::oldest);
    Message message{};
    return in.try_pop(message) == Status::ok && in.try_pop(message) == Status::empty &&
           in.consume([](const Message&) {}) == 0;
  });
  EXPECT_TRUE(child.succeeded());
}

// --- Between processes. ---

// Follows to the end: whole, in order, each seen or counted; whether none was lost, if so asked.
bool follow_all(Messages::Consumer& in, std::uint64_t count, bool all) {
  Message message{};
  std::uint64_t next = 0;
  std::uint64_t seen = 0;
  while (in.pop(message, 20s) == Status::ok) {
    if (!is_whole(message) || message.number < next) return false;
    next = message.number + 1;
    ++seen;
  }
  return next == count && seen + in.lost() == count && (!all || in.lost() == 0);
}

TEST(SharedBroadcast, EachMessageInOrderBetweenProcesses) {
  const std::uint64_t count = test::rounds(100'000);
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{16}, std::size_t{1} << 17}) {
    MadeBroadcast made(capacity);
    using From = Messages::From;
    const bool all = capacity >= count;
    const auto follow = [&] {
      Messages::Consumer in(Messages::attach(made.pages.bytes()), From::oldest);
      return follow_all(in, count, all);
    };
    ForkedChild one(follow);
    ForkedChild two(follow);
    // From::oldest of a child that comes late would leave out what it never had a chance to see.
    one.wait_until_asleep();
    two.wait_until_asleep();
    Messages::Producer out(made.ring);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(out.push(message_of(i)), Status::ok);
    out.close();
    EXPECT_TRUE(one.succeeded());
    EXPECT_TRUE(two.succeeded());
  }
}

TEST(SharedBroadcast, AKilledConsumerBlocksNobody) {
  MadeBroadcast made(2);
  ForkedChild child([&] {
    Messages::Consumer in(made.ring);
    Message message{};
    while (in.pop(message) == Status::ok) {
    }
    return true;
  });
  child.wait_until_asleep();
  child.kill();
  Messages::Producer out(made.ring);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(out.push(message_of(i)), Status::ok);
}

TEST(SharedBroadcast, AKilledProducerIsReplacedAndNothingTornIsSeen) {
  MadeBroadcast made(8);
  Messages::Consumer in(made.ring);
  std::uint64_t next = 0;
  for (std::size_t round = 0; round < test::rounds(30); ++round) {
    ForkedChild child([&] {
      Messages::Producer out(made.ring);
      for (std::uint64_t i = 0; i < 1ULL << 30; ++i) {
        if (out.push(message_of((round << 32) + i)) != Status::ok) return false;
      }
      return true;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (round % 20)));
    child.kill();
    made.ring.recovered();
    Message message{};
    while (in.try_pop(message) == Status::ok) {
      ASSERT_TRUE(is_whole(message));
      ASSERT_GE(message.number, next);
      next = message.number + 1;
    }
  }
  made.ring.producer_died();
  Message message{};
  EXPECT_EQ(in.pop(message, 20s), Status::closed);
}

}}  // namespace shared_broadcast_test

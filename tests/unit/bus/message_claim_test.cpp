// SPDX-License-Identifier: MIT
//
// Claims: filled in their place, committed or dropped, in any order.
#include <handoff/bus/message_bus.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace message_claim_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using Owned = std::unique_ptr<int>;
using Numbers = std::vector<int>;

template <class Policies>
struct MessageClaimTest : testing::Test {
  using Bus = BasicMessageBus<Policies, int, Owned>;
};
using Orders = testing::Types<BusPolicies, LanedBusPolicies>;
TYPED_TEST_SUITE(MessageClaimTest, Orders);

template <class Bus>
Numbers drained(Bus& bus) {
  Numbers numbers;
  bus.drain(overloaded{[&](int number) { numbers.push_back(number); },
                       [&](const Owned& owned) { numbers.push_back(*owned); }});
  return numbers;
}

TYPED_TEST(MessageClaimTest, FilledInItsPlace) {
  typename TestFixture::Bus bus;
  auto claim = bus.template claim<int>(7);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim.status(), Status::ok);
  EXPECT_EQ(*claim, 7);
  EXPECT_EQ(drained(bus), Numbers{}) << "nobody sees it yet";
  *claim = 8;
  int* const place = &*claim;
  claim.commit();
  EXPECT_FALSE(claim);
  EXPECT_EQ(claim.status(), Status::empty);
  EXPECT_THROW(claim.commit(), std::logic_error);
  EXPECT_EQ(bus.drain(overloaded{[&](int& number) {
                                   EXPECT_EQ(&number, place);
                                   EXPECT_EQ(number, 8);
                                 },
                                 [](Owned&) {}}),
            1U);
}

TYPED_TEST(MessageClaimTest, LaterMessagesWaitForIt) {
  typename TestFixture::Bus bus;
  auto producer = bus.producer();
  auto first = producer.template claim<int>(1);
  auto second = producer.template claim<int>(2);
  EXPECT_EQ(producer.publish(3), Status::ok);
  second.commit();
  EXPECT_EQ(drained(bus), Numbers{});
  EXPECT_EQ(bus.size(), 3U);
  EXPECT_EQ(bus.wait(0ms), Status::timed_out);
  EXPECT_LT(first.id(), producer.template claim<int>(4).id());
  first.commit();
  EXPECT_EQ(drained(bus), (Numbers{1, 2, 3}));
}

TYPED_TEST(MessageClaimTest, DroppedItIsSteppedOver) {
  typename TestFixture::Bus bus({.capacity = 4});
  const auto alive = std::make_shared<int>(0);
  for (int round = 0; round < 10; ++round) {
    {
      const auto dropped = bus.template claim<Owned>(std::make_unique<int>(1));
    }
    auto moved = bus.template claim<int>(1);
    auto claim = std::move(moved);
    EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(bus.publish(2), Status::ok);
    claim = bus.template claim<int>(3);  // what it held is dropped
    EXPECT_EQ(bus.template claim<int>(4).status(), Status::full) << "they have their places still";
    claim.commit();
    EXPECT_EQ(bus.tally().pending, 2U);
    EXPECT_EQ(bus.wait(), Status::ok);
    EXPECT_EQ(drained(bus), (Numbers{2, 3}));
    EXPECT_EQ(bus.size(), 0U);
  }
  {
    const auto dropped = bus.template claim<int>(1);
  }
  bus.shut();
  const Tally tally = bus.tally();
  EXPECT_EQ(tally.accepted, 20U);
  EXPECT_EQ(tally.done, 20U);
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(bus.wait(), Status::closed);
}

// `most` counts messages: what is stepped over does not keep a drain from them.
TYPED_TEST(MessageClaimTest, DroppedItTakesNoTurnOfADrain) {
  typename TestFixture::Bus bus({.capacity = 8});
  {
    const auto first = bus.template claim<int>(1);
    auto second = bus.template claim<int>(2);
    second.drop();
    EXPECT_EQ(second.status(), Status::empty);
  }
  EXPECT_EQ(bus.publish(3), Status::ok);
  EXPECT_EQ(bus.publish(4), Status::ok);
  Numbers came;
  const auto visit = overloaded{[&](int number, std::uint64_t, bool end) {
                                  came.push_back(number);
                                  EXPECT_TRUE(end) << "this drain hands out no more";
                                },
                                [](Owned&) {}};
  EXPECT_EQ(bus.drain(visit, 1), 1U);
  EXPECT_EQ(came, Numbers{3});
  EXPECT_EQ(bus.drain(visit, 1), 1U);
  EXPECT_EQ(came, (Numbers{3, 4}));
  EXPECT_EQ(bus.drain(visit, 1), 0U);
}

TYPED_TEST(MessageClaimTest, TheEndOfABatchIsBehindDroppedOnes) {
  typename TestFixture::Bus bus({.capacity = 4});
  auto producer = bus.producer();
  EXPECT_EQ(producer.publish(1), Status::ok);
  for (int i = 0; i < 2; ++i) producer.template claim<int>(0).drop();
  EXPECT_EQ(producer.publish(2), Status::ok);
  const auto handle = [](int number, const typename TestFixture::Bus::Meta& meta) {
    EXPECT_EQ(meta.end_of_batch, number == 2);
  };
  EXPECT_EQ(bus.drain(overloaded{handle, [](const Owned&) {}}), 2U);
}

TEST(MessageClaim, AssignedItIsOfTheOthersLane) {
  LanedMessageBus<int> bus;
  auto one = bus.producer();
  auto two = bus.producer();
  auto claim = one.claim<int>(1);
  claim = two.claim<int>(2);
  EXPECT_EQ(claim.status(), Status::ok);
  EXPECT_EQ(*claim, 2);
  claim.commit();
  Numbers numbers;
  bus.drain([&](int number) { numbers.push_back(number); });
  EXPECT_EQ(numbers, Numbers{2});
}

// Whose producer stalls holds up its own lane only, and no producer at all.
TEST(MessageClaim, AnOpenOneDelaysItsLaneAlone) {
  LanedMessageBus<int> bus({.capacity = 8, .lanes = 2});
  auto stalled = bus.producer();
  auto other = bus.producer();
  auto claim = stalled.claim<int>(1);
  EXPECT_EQ(stalled.publish(2), Status::ok);
  EXPECT_EQ(other.publish(3), Status::ok);
  EXPECT_EQ(bus.publish(4), Status::ok);
  Numbers came;
  const auto visit = [&](int number) { came.push_back(number); };
  EXPECT_EQ(bus.wait(), Status::ok);
  EXPECT_EQ(bus.drain(visit), 2U);
  std::ranges::sort(came);
  EXPECT_EQ(came, (Numbers{3, 4})) << "what is behind it waits for it";
  claim.commit();
  came.clear();
  EXPECT_EQ(bus.drain(visit), 2U);
  EXPECT_EQ(came, (Numbers{1, 2}));
}

TYPED_TEST(MessageClaimTest, RefusedItHasNoPlace) {
  typename TestFixture::Bus bus({.capacity = 1});
  EXPECT_EQ(bus.publish(1), Status::ok);
  Owned owned = std::make_unique<int>(2);
  const auto full = bus.template claim<Owned>(std::move(owned));
  EXPECT_FALSE(full);
  EXPECT_EQ(full.status(), Status::full);
  EXPECT_NE(owned, nullptr) << "untouched";
  bus.shut();
  EXPECT_EQ(bus.template claim<int>(2).status(), Status::closed);
  EXPECT_EQ(typename TestFixture::Bus::template Claim<int>().status(), Status::empty);
}

// A close waits for it, and then it counts.
TYPED_TEST(MessageClaimTest, AnOpenOneHoldsBackTheEndOfAClose) {
  for (const bool commits : {true, false}) {
    typename TestFixture::Bus bus;
    auto claim = bus.template claim<int>(1);
    EXPECT_EQ(bus.publish(2), Status::ok);
    bus.shut();
    EXPECT_EQ(bus.wait(1ms), Status::timed_out) << "not closed yet: it may come";
    std::thread other([&] {
      std::this_thread::sleep_for(5ms);
      if (commits) {
        claim.commit();
      } else {
        claim.drop();
      }
    });
    const Tally tally = bus.close(Closing::finish);
    other.join();
    EXPECT_EQ(tally.accepted, commits ? 2U : 1U);
    EXPECT_EQ(tally.done, commits ? 2U : 1U);
    EXPECT_EQ(tally.pending, 0U);
  }
}

}}  // namespace message_claim_test

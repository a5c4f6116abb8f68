// SPDX-License-Identifier: MIT
//
// Claims: filled in their place, committed or dropped, in any order.
#include "support/test.hpp"

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
  EXPECT_EQ(typename TestFixture::Bus::template Claim<int>().status(), Status::empty);
  EXPECT_THROW(claim.commit(), std::logic_error);
  EXPECT_EQ(bus.drain(overloaded{[&](int& number) {
                                   EXPECT_EQ(&number, place);
                                   EXPECT_EQ(number, 8);
                                 },
                                 [](Owned&) {}}),
            1U);
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

// A close waits for it, and then it counts.
TYPED_TEST(MessageClaimTest, AnOpenOneHoldsBackTheEndOfAClose) {
  for (const bool commits : {true, false}) {
    typename TestFixture::Bus bus;
    auto claim = bus.template claim<int>(1);
    EXPECT_EQ(bus.publish(2), Status::ok);
    bus.shut();
    EXPECT_EQ(bus.wait(1ms), Status::timed_out) << "not closed yet: it may come";
    const std::jthread other([&] {
      std::this_thread::sleep_for(5ms);
      commits ? claim.commit() : claim.drop();
    });
    EXPECT_TRUE(
        test::came_to(bus.close(Closing::finish, [](const auto&) {}), {.done = commits ? 2U : 1U}));
  }
}

}}  // namespace message_claim_test

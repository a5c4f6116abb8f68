// SPDX-License-Identifier: MIT
//
// MpscRing and MpmcRing beyond the transfer suite: what others see while a push or a pop is
// between its claim and its end. An item whose constructor calls back, and a visitor, stop the
// protocol right there, so each case is the same every time.
#include <handoff/queue/detail/ring_tickets.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

static_assert(!std::is_copy_constructible_v<MpscRing<int>>);
static_assert(!std::is_move_constructible_v<MpmcRing<int>>);
static_assert(sizeof(MpscRing<int>) == 3 * sync::destructive_span,
              "what is fixed, the end of pushes, the end of pops");

// An item during whose construction, in its claimed place, something else happens.
struct Item {
  Item(int number, const std::function<void()>& meanwhile) noexcept : value(number) { meanwhile(); }
  explicit Item(int number) noexcept : value(number) {}

  int value;
};

template <class Ring>
class TicketRing : public testing::Test {
 protected:
  // What try_pop says; the item goes to `value_`.
  Status pop() {
    Item out(-1);
    const Status status = ring_.try_pop(out);
    if (status == Status::ok) value_ = out.value;
    return status;
  }
  Status push_while(int number, const std::function<void()>& meanwhile) {
    return ring_.try_emplace(number, meanwhile);
  }

  Ring ring_{4};
  int value_ = -1;
};

using Rings = testing::Types<MpscRing<Item>, MpmcRing<Item>>;
TYPED_TEST_SUITE(TicketRing, Rings);

TYPED_TEST(TicketRing, AClaimedPlaceIsEmptyAndHoldsUpThoseBehindIt) {
  ASSERT_EQ(this->push_while(0,
                             [this] {
                               EXPECT_EQ(this->pop(), Status::empty);
                               EXPECT_EQ(this->ring_.size(), 1U) << "the claim counts";
                               ASSERT_EQ(this->ring_.try_emplace(1), Status::ok);
                               EXPECT_EQ(this->pop(), Status::empty)
                                   << "1 is done, but 0 goes first";
                               EXPECT_EQ(this->ring_.consume([](Item&) {}), 0U);
                             }),
            Status::ok);
  ASSERT_EQ(this->pop(), Status::ok);
  EXPECT_EQ(this->value_, 0);
  ASSERT_EQ(this->pop(), Status::ok);
  EXPECT_EQ(this->value_, 1);
}

TYPED_TEST(TicketRing, AClaimedPlaceCountsForFull) {
  ASSERT_EQ(this->push_while(0,
                             [this] {
                               for (int i = 1; i < 4; ++i)
                                 ASSERT_EQ(this->ring_.try_emplace(i), Status::ok);
                               EXPECT_EQ(this->ring_.try_emplace(4), Status::full);
                             }),
            Status::ok);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(this->pop(), Status::ok);
    EXPECT_EQ(this->value_, i);
  }
}

TYPED_TEST(TicketRing, ClosedIsNeverSaidBeforeTheLastClaimIsFilled) {
  ASSERT_EQ(this->push_while(0,
                             [this] {
                               this->ring_.close();
                               EXPECT_EQ(this->pop(), Status::empty)
                                   << "an item is still on its way";
                               EXPECT_EQ(this->ring_.try_emplace(1), Status::closed);
                             }),
            Status::ok);
  ASSERT_EQ(this->pop(), Status::ok);
  EXPECT_EQ(this->value_, 0);
  EXPECT_EQ(this->pop(), Status::closed);
}

TYPED_TEST(TicketRing, AVisitorHoldsItsPlace) {
  for (int i = 0; i < 4; ++i) ASSERT_EQ(this->ring_.try_emplace(i), Status::ok);
  EXPECT_EQ(this->ring_.consume(
                [this](Item&) { EXPECT_EQ(this->ring_.try_emplace(4), Status::full); }, 1),
            1U);
  EXPECT_EQ(this->ring_.try_emplace(4), Status::ok);
}

TEST(MpmcRing, APlaceInHandHoldsUpPushesThoughLaterOnesAreFree) {
  MpmcRing<int> ring(2);
  ASSERT_EQ(ring.try_push(0), Status::ok);
  ASSERT_EQ(ring.try_push(1), Status::ok);
  EXPECT_EQ(ring.consume(
                [&](int&) {
                  std::thread([&] {
                    int out = -1;
                    EXPECT_EQ(ring.try_pop(out), Status::ok);
                    EXPECT_EQ(out, 1);
                    EXPECT_EQ(ring.try_pop(out), Status::empty);
                    EXPECT_EQ(ring.try_push(2), Status::full) << "the first place comes first";
                    ring.close();
                    EXPECT_EQ(ring.try_pop(out), Status::closed)
                        << "all are taken, if not done with";
                  }).join();
                },
                1),
            1U);
  EXPECT_TRUE(ring.empty());
}

struct ThrowsWhenCopied {
  ThrowsWhenCopied() noexcept = default;
  ThrowsWhenCopied(const ThrowsWhenCopied&) { throw 1; }
  ThrowsWhenCopied(ThrowsWhenCopied&&) noexcept = default;
  ThrowsWhenCopied& operator=(ThrowsWhenCopied&&) noexcept = default;
};

TEST(MpmcRing, ACopyThatThrowsClaimsNothing) {
  MpmcRing<ThrowsWhenCopied> ring(1);
  const ThrowsWhenCopied sample;
  EXPECT_THROW(static_cast<void>(ring.try_push(sample)), int);
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(ring.try_push(ThrowsWhenCopied()), Status::ok) << "the only place is still free";
}

TEST(MpscRing, ALongStringIsCopiedIn) {
  MpscRing<std::string> ring(1);
  const std::string text(1000, 'x');
  ASSERT_EQ(ring.try_push(text), Status::ok);
  EXPECT_EQ(text.size(), 1000U);
  std::string out;
  ASSERT_EQ(ring.try_pop(out), Status::ok);
  EXPECT_EQ(out, text);
}

TYPED_TEST(TicketRing, OnlyTheConstructorAllocates) {
  const std::size_t before = test::calls(test::Call::allocation);
  for (int lap = 0; lap < 100; ++lap) {
    while (this->ring_.try_emplace(lap) == Status::ok) {
    }
    this->ring_.consume([](Item&) {}, 3);
    ASSERT_EQ(this->pop(), Status::ok);
    Item items[2] = {Item(1), Item(2)};
    ASSERT_EQ(this->ring_.try_push_batch(items), 2U);
    ASSERT_EQ(this->ring_.try_pop_batch(items), 2U);
  }
  EXPECT_EQ(test::calls(test::Call::allocation), before);
}

}  // namespace

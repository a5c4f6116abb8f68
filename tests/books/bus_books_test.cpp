// SPDX-License-Identifier: MIT
//
// The books of bus/ report what is broken on purpose. As every Books is a friend, Books<Break> is
// the one that breaks.
#include <gtest/gtest-spi.h>

#include "books/bus_books.hpp"
#include "books/expect_reported.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  using Bus = MessageBus<int>;

  static auto& tail(Bus& bus) { return bus.core_.rings_[0].tail_; }
  static auto& head_seen(Bus& bus) { return bus.core_.rings_[0].head_seen_; }
  static auto& state(Bus& bus, std::uint64_t ticket) {
    return bus.core_.rings_[0].slot(ticket).state;
  }
  static auto& waiting(Bus& bus) { return bus.core_.rings_[0].waiters.sleepers.count_; }
  static auto& asleep(Bus& bus) { return bus.core_.arrivals_.sleepers_.count_; }
  static auto& taker(Bus& bus) { return bus.core_.taker_.thread_; }
  static auto& failed(Bus& bus) { return bus.core_.figures_.failed_; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using test::expect_reported;
using Break = detail::Books<detail::Break>;

TEST(BusBooks, MessageBus) {
  Break::Bus bus({.capacity = 2});
  ASSERT_EQ(bus.publish(1), Status::ok);
  ASSERT_EQ(bus.drain([](int) {}), 1U);
  ASSERT_EQ(bus.publish(2), Status::ok);
  expect_reported(bus, Break::tail(bus), 8U, "MessageRing: more messages than places");
  expect_reported(bus, Break::tail(bus), 6U, "MessageRing: a claimed place was never filled");
  expect_reported(bus, Break::tail(bus), 2U, "MessageRing: a place was filled unclaimed");
  expect_reported(bus, Break::head_seen(bus), 4U, "MessageRing: head_seen_ is ahead of the head");
  expect_reported(bus, Break::state(bus, 2), 0U, "MessageRing: a claimed place was never filled");
  expect_reported(bus, Break::waiting(bus), 1U, "MessageRing: a producer is counted as asleep");
  expect_reported(bus, Break::asleep(bus), 1U, "BusCore: a consumer is counted as asleep");
  const sync::ThreadId somebody = &bus;
  expect_reported(bus, Break::taker(bus), somebody, "BusCore: a consumer is at work");
  expect_reported(bus, Break::failed(bus), 2U, "BusCore: more have failed than were handed out");
}

TEST(BusBooks, AnAuditFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        test::Audited<Break::Bus> bus;
        (void)bus.publish(1);
        test::set(Break::asleep(bus), 1);
      },
      "BusCore: a consumer is counted as asleep");
}

}  // namespace

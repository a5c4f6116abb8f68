// SPDX-License-Identifier: MIT
//
// SharedRingAlarm, and the descriptors of C: readable when there is something to take, once, and
// for every kind of ring; by other processes, by a close, by a death.
#include <poll.h>

#include "support/failing.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"
#include "unit/process/shared_faces.hpp"

namespace shared_ring_alarm_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::ForkedChild;
using Ring = SharedRing<std::uint64_t>;

bool is_readable(const auto& alarm, int timeout_ms = 0) {
  pollfd waited{.fd = alarm.descriptor(), .events = POLLIN, .revents = 0};
  int found = 0;
  do found = ::poll(&waited, 1, timeout_ms);
  while (found < 0 && errno == EINTR);
  return found == 1 && (waited.revents & POLLIN) != 0;
}
// Waits for it.
bool becomes_readable(const auto& alarm) { return is_readable(alarm, 20'000); }

template <class Kind>
class SharedRingAlarms : public testing::Test {
 protected:
  typename Kind::Made made_{Kind::waits ? 8U : 1024U};
  typename Kind::Consumer in_{made_.ring};
  typename Kind::Alarm alarm_{in_};
};
using Kinds = testing::Types<test::OneToOne, test::ManyToOne, test::OneToMany, test::BytesInCpp,
                             test::BytesInC, test::ItemsInC>;
TYPED_TEST_SUITE(SharedRingAlarms, Kinds);

TYPED_TEST(SharedRingAlarms, ReadableOnceForWhatComesAfterItWasArmed) {
  typename TypeParam::Producer out(this->made_.ring);
  std::uint64_t number = 0;
  EXPECT_FALSE(is_readable(this->alarm_));
  ASSERT_EQ(out.push(1), Status::ok);
  EXPECT_FALSE(this->alarm_.arm(this->in_)) << "there is something already";
  EXPECT_FALSE(is_readable(this->alarm_));
  ASSERT_EQ(this->in_.try_pop(number), Status::ok);
  for (std::uint64_t i = 2; i < 40; ++i) {
    ASSERT_EQ(this->in_.try_pop(number), Status::empty);
    ASSERT_TRUE(this->alarm_.arm(this->in_));
    EXPECT_FALSE(is_readable(this->alarm_));
    ASSERT_EQ(out.push(i), Status::ok);
    ASSERT_TRUE(becomes_readable(this->alarm_));
    ASSERT_EQ(this->in_.try_pop(number), Status::ok);
    EXPECT_EQ(number, i);
  }
  EXPECT_TRUE(this->alarm_.arm(this->in_));
  EXPECT_TRUE(this->alarm_.arm(this->in_)) << "again and again";
  EXPECT_FALSE(is_readable(this->alarm_));
  ASSERT_EQ(out.push(40), Status::ok);
  EXPECT_TRUE(becomes_readable(this->alarm_));
}

TYPED_TEST(SharedRingAlarms, ACloseByAnotherProcessIsHeard) {
  std::uint64_t number = 0;
  ASSERT_TRUE(this->alarm_.arm(this->in_));
  ForkedChild child([this] {
    TypeParam::close(this->made_.ring);
    return true;
  });
  EXPECT_TRUE(becomes_readable(this->alarm_));
  EXPECT_TRUE(child.succeeded());
  EXPECT_FALSE(this->alarm_.arm(this->in_));
  EXPECT_EQ(this->in_.try_pop(number), Status::closed);
}

TYPED_TEST(SharedRingAlarms, AllThatAnotherProcessPushesIsTaken) {
  constexpr std::uint64_t count = 1000;  // no lap of a broadcast
  ForkedChild child([&] {
    typename TypeParam::Producer out(this->made_.ring);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (out.push(i) != Status::ok) return false;
      if (i % 7 == 0) ::usleep(20);
    }
    TypeParam::close(this->made_.ring);
    return true;
  });
  std::uint64_t next = 0;
  for (Status said = Status::empty; said != Status::closed;) {
    do {
      for (std::uint64_t number = 0; (said = this->in_.try_pop(number)) == Status::ok; ++next) {
        ASSERT_EQ(number, next);
      }
    } while (said == Status::empty && !this->alarm_.arm(this->in_));
    if (said == Status::empty) {
      ASSERT_TRUE(becomes_readable(this->alarm_));
    }
  }
  EXPECT_EQ(next, count);
  EXPECT_TRUE(child.succeeded());
}

TYPED_TEST(SharedRingAlarms, NobodyWaitsForTheDead) {
  ForkedChild child([this] {
    typename TypeParam::Producer out(this->made_.ring);
    for (;;) ::pause();
    return out.push(1) == Status::ok;
  });
  ASSERT_TRUE(this->alarm_.arm(this->in_));
  child.kill();
  EXPECT_FALSE(is_readable(this->alarm_));
  TypeParam::producer_died(this->made_.ring);
  EXPECT_TRUE(becomes_readable(this->alarm_));
}

TEST(SharedRingAlarm, AWaitByItselfIsNoHarmIfItIsArmedAgain) {
  test::RingInPages<Ring> made(8);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  SharedRingAlarm alarm;
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < test::rounds(100); ++i) {
    ASSERT_TRUE(alarm.arm(in));
    ASSERT_EQ(in.pop(number, 100us), Status::timed_out);
    ASSERT_TRUE(alarm.arm(in));
    ASSERT_EQ(out.push(i), Status::ok);
    ASSERT_TRUE(becomes_readable(alarm));
    ASSERT_EQ(in.try_pop(number), Status::ok);
  }
}

TEST(SharedRingAlarm, ItEndsArmedOrNot) {
  test::RingInPages<Ring> made(8);
  Ring::Consumer in(made.ring);
  for (std::uint64_t i = 0; i < test::rounds(100); ++i) {
    SharedRingAlarm alarm;
    if (i % 2 == 0) {
      EXPECT_TRUE(alarm.arm(in));
    }
  }
}

TEST(SharedRingAlarm, WhatItNeedsIsAnErrorIfItIsNotThere) {
  const auto make = [] {
    try {
      const SharedRingAlarm alarm;
      return 0;
    } catch (const std::system_error& error) {
      return error.code().value();
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  };
  EXPECT_GT(test::until_whole(test::Call::thread, EAGAIN, [&] { (void)make(); }), 0);
  EXPECT_GT(test::until_whole(test::Call::allocation, 0, [&] { (void)make(); }), 0);
  const test::Limit none(RLIMIT_NOFILE, 0);
  EXPECT_EQ(make(), EMFILE);
}

}}  // namespace shared_ring_alarm_test

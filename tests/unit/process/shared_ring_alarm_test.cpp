// SPDX-License-Identifier: MIT
//
// SharedRingAlarm: readable when there is something to take, once, and for every kind of ring; by
// other processes, by a close, by a death.
#include <handoff/process/shared_ring_alarm.hpp>

#include <poll.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <system_error>
#include <type_traits>

#include <gtest/gtest.h>

#include <handoff/process/shared_broadcast.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>
#include <handoff/process/shared_ring.hpp>

#include "forked.hpp"
#include "shared_item.hpp"
#include "support/failing.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::CommonPages;
using test::ForkedChild;

bool is_readable(const SharedRingAlarm& alarm, int timeout_ms = 0) {
  pollfd waited{.fd = alarm.descriptor(), .events = POLLIN, .revents = 0};
  int found = 0;
  do found = ::poll(&waited, 1, timeout_ms);
  while (found < 0 && errno == EINTR);
  return found == 1 && (waited.revents & POLLIN) != 0;
}
// Waits for it.
bool becomes_readable(const SharedRingAlarm& alarm) { return is_readable(alarm, 20'000); }

// The four kinds by the same words: numbers go in and come out.
struct OneToOne {
  using Ring = SharedRing<std::uint64_t>;
  static std::size_t bytes() { return Ring::bytes_for(8); }
  static Ring make(std::span<std::byte> memory) { return Ring::create(memory, 8); }
  struct Producer : Ring::Producer {
    explicit Producer(Ring ring) : Ring::Producer(ring) {}
  };
  static Status take(Ring::Consumer& in, std::uint64_t& number) { return in.try_pop(number); }
  static void close(Ring ring) { ring.close(); }
};
struct ManyToOne {
  using Ring = SharedMpscRing<std::uint64_t>;
  static std::size_t bytes() { return Ring::bytes_for(8, 2); }
  static Ring make(std::span<std::byte> memory) { return Ring::create(memory, 8, 2); }
  struct Producer : Ring::Producer {
    explicit Producer(Ring ring) : Ring::Producer(ring, 1) {}
  };
  static Status take(Ring::Consumer& in, std::uint64_t& number) { return in.try_pop(number); }
  static void close(Ring ring) { ring.close(); }
};
struct OneToMany {
  using Ring = SharedBroadcast<std::uint64_t>;
  static std::size_t bytes() { return Ring::bytes_for(1024); }
  static Ring make(std::span<std::byte> memory) { return Ring::create(memory, 1024); }
  struct Producer : Ring::Producer {
    explicit Producer(Ring ring) : Ring::Producer(ring) {}
  };
  static Status take(Ring::Consumer& in, std::uint64_t& number) { return in.try_pop(number); }
  static void close(Ring ring) { Ring::Producer(ring).close(); }
};
struct OfBytes {
  using Ring = SharedByteRing;
  static std::size_t bytes() { return Ring::bytes_for(128); }
  static Ring make(std::span<std::byte> memory) { return Ring::create(memory, 128); }
  struct Producer : Ring::Producer {
    explicit Producer(Ring ring) : Ring::Producer(ring) {}
    Status push(std::uint64_t number) {
      return Ring::Producer::push(std::as_bytes(std::span(&number, 1)));
    }
  };
  static Status take(Ring::Consumer& in, std::uint64_t& number) {
    std::span<const std::byte> record;
    const Status status = in.try_peek(record);
    if (status == Status::ok) std::memcpy(&number, record.data(), sizeof number);
    in.release();
    return status;
  }
  static void close(Ring ring) { ring.close(); }
};

template <class Kind>
class SharedRingAlarms : public testing::Test {
 protected:
  CommonPages pages_{Kind::bytes()};
  typename Kind::Ring ring_ = Kind::make(pages_.bytes());
  typename Kind::Ring::Consumer in_{ring_};
  SharedRingAlarm alarm_;
};
using Kinds = testing::Types<OneToOne, ManyToOne, OneToMany, OfBytes>;
TYPED_TEST_SUITE(SharedRingAlarms, Kinds);

TYPED_TEST(SharedRingAlarms, ReadableOnceForWhatComesAfterItWasArmed) {
  typename TypeParam::Producer out(this->ring_);
  std::uint64_t number = 0;
  EXPECT_FALSE(is_readable(this->alarm_));
  ASSERT_EQ(out.push(1), Status::ok);
  EXPECT_FALSE(this->alarm_.arm(this->in_)) << "there is something already";
  EXPECT_FALSE(is_readable(this->alarm_));
  ASSERT_EQ(TypeParam::take(this->in_, number), Status::ok);
  for (std::uint64_t i = 2; i < 40; ++i) {
    ASSERT_EQ(TypeParam::take(this->in_, number), Status::empty);
    ASSERT_TRUE(this->alarm_.arm(this->in_));
    EXPECT_FALSE(is_readable(this->alarm_));
    ASSERT_EQ(out.push(i), Status::ok);
    ASSERT_TRUE(becomes_readable(this->alarm_));
    ASSERT_EQ(TypeParam::take(this->in_, number), Status::ok);
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
    TypeParam::close(this->ring_);
    return true;
  });
  EXPECT_TRUE(becomes_readable(this->alarm_));
  EXPECT_TRUE(child.succeeded());
  EXPECT_FALSE(this->alarm_.arm(this->in_));
  EXPECT_EQ(TypeParam::take(this->in_, number), Status::closed);
}

TYPED_TEST(SharedRingAlarms, AllThatAnotherProcessPushesIsTaken) {
  constexpr std::uint64_t count = 1000;  // no lap of a broadcast
  ForkedChild child([&] {
    typename TypeParam::Producer out(this->ring_);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (out.push(i) != Status::ok) return false;
      if (i % 7 == 0) ::usleep(20);
    }
    TypeParam::close(this->ring_);
    return true;
  });
  std::uint64_t next = 0;
  for (Status said = Status::empty; said != Status::closed;) {
    do {
      for (std::uint64_t number = 0; (said = TypeParam::take(this->in_, number)) == Status::ok;
           ++next) {
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
    typename TypeParam::Producer out(this->ring_);
    for (;;) ::pause();
    return out.push(1) == Status::ok;
  });
  ASSERT_TRUE(this->alarm_.arm(this->in_));
  child.kill();
  EXPECT_FALSE(is_readable(this->alarm_));
  if constexpr (std::is_same_v<TypeParam, ManyToOne>) {
    this->ring_.close();
  } else {
    this->ring_.producer_died();
  }
  EXPECT_TRUE(becomes_readable(this->alarm_));
}

TEST(SharedRingAlarm, AWaitByItselfIsNoHarmIfItIsArmedAgain) {
  CommonPages pages(OneToOne::bytes());
  OneToOne::Ring ring = OneToOne::make(pages.bytes());
  OneToOne::Ring::Producer out(ring);
  OneToOne::Ring::Consumer in(ring);
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
  CommonPages pages(OneToOne::bytes());
  OneToOne::Ring ring = OneToOne::make(pages.bytes());
  OneToOne::Ring::Consumer in(ring);
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
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const int error = make();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(error, EMFILE);
}

}  // namespace

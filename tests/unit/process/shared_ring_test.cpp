// SPDX-License-Identifier: MIT
//
// SharedRing: calls, sleeps, closes, deaths, and memory that cannot be trusted; between processes.
#include <handoff/process/shared_ring.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <handoff/process/detail/bell_patience.hpp>
#include <system_error>

#include "forked.hpp"
#include "shared_item.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::CommonPages;
using test::ForkedChild;
using test::is_whole;
using test::RingInPages;

using test::message_of;
using Item = test::Message;
using Ring = SharedRing<Item>;

static_assert(std::is_copy_constructible_v<Ring>);
static_assert(!std::is_copy_constructible_v<Ring::Producer>);
static_assert(!std::is_move_constructible_v<Ring::Consumer>);

using MadeRing = RingInPages<Ring>;

TEST(SharedRing, FirstInFirstOutUntilFullAndEmpty) {
  MadeRing made(3);  // 4 places
  Ring::Producer out(made.ring);
  Ring::Consumer in(Ring::attach(made.pages.bytes()));
  EXPECT_EQ(made.ring.capacity(), 4U);
  Item item{};
  EXPECT_EQ(in.try_pop(item), Status::empty);
  for (std::uint64_t lap = 0; lap < 3; ++lap) {
    for (std::uint64_t i = 0; i < 4; ++i)
      EXPECT_EQ(out.try_push(message_of(4 * lap + i)), Status::ok);
    EXPECT_EQ(out.try_push(message_of(99)), Status::full);
    EXPECT_EQ(made.ring.size(), 4U);
    for (std::uint64_t i = 0; i < 4; ++i) {
      ASSERT_EQ(in.try_pop(item), Status::ok);
      EXPECT_EQ(item.number, 4 * lap + i);
    }
    EXPECT_TRUE(made.ring.empty());
  }
}

TEST(SharedRing, InPlace) {
  MadeRing made(2);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  Item* place = nullptr;
  const Item* front = nullptr;
  EXPECT_EQ(out.publish(), Status::closed) << "nothing was claimed";
  ASSERT_EQ(out.try_claim(place), Status::ok);
  place->number = 7;
  EXPECT_EQ(in.try_peek(front), Status::empty);
  EXPECT_EQ(front, nullptr);
  in.release();  // nothing is peeked: nothing happens
  Item* again = nullptr;
  ASSERT_EQ(out.try_claim(again), Status::ok);
  EXPECT_EQ(again, place);
  EXPECT_EQ(out.publish(), Status::ok);
  EXPECT_EQ(out.publish(), Status::closed);
  ASSERT_EQ(out.claim(place), Status::ok);
  EXPECT_EQ(out.publish(), Status::ok);
  EXPECT_EQ(out.try_claim(place), Status::full);
  EXPECT_EQ(place, nullptr);
  EXPECT_EQ(out.claim(place, 1ms), Status::timed_out);
  ASSERT_EQ(in.peek(front), Status::ok);
  EXPECT_EQ(front->number, 7U);
  in.release();
  in.release();
  EXPECT_EQ(made.ring.size(), 1U);
}

TEST(SharedRing, Batches) {
  MadeRing made(4);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  std::vector<Item> items;
  items.reserve(6);
  for (std::uint64_t i = 0; i < 6; ++i) items.push_back(message_of(i));
  EXPECT_EQ(out.try_push_batch(items), 4U);
  EXPECT_EQ(out.try_push_batch(items), 0U);
  std::vector<Item> found(3);
  EXPECT_EQ(in.try_pop_batch(found), 3U);
  EXPECT_EQ(found[2].number, 2U);
  EXPECT_EQ(out.try_push_batch(std::span<const Item>(items).subspan(4)), 2U);
  std::uint64_t next = 3;
  EXPECT_EQ(in.consume([&](const Item& item) { EXPECT_EQ(item.number, next++); }, 1), 1U);
  EXPECT_EQ(in.consume([&](const Item& item) { EXPECT_EQ(item.number, next++); }), 2U);
  EXPECT_EQ(in.consume([](const Item&) {}), 0U);
  EXPECT_EQ(in.try_pop_batch(found), 0U);
}

TEST(SharedRing, AVisitorThatThrowsHasConsumedItsItem) {
  MadeRing made(4);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(out.try_push(message_of(i)), Status::ok);
  EXPECT_THROW(in.consume([](const Item& item) {
    if (item.number == 1) throw std::runtime_error("no");
  }),
               std::runtime_error);
  Item item{};
  ASSERT_EQ(in.try_pop(item), Status::ok);
  EXPECT_EQ(item.number, 2U);
}

TEST(SharedRing, ClosedDrainsAndRefuses) {
  MadeRing made(4);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  ASSERT_EQ(out.try_push(message_of(1)), Status::ok);
  Item* place = nullptr;
  ASSERT_EQ(out.try_claim(place), Status::ok);
  *place = message_of(2);
  made.ring.close();
  made.ring.close();
  EXPECT_TRUE(made.ring.closed());
  EXPECT_EQ(out.publish(), Status::ok) << "claimed before, and nothing has ended yet";
  EXPECT_EQ(out.try_push(message_of(3)), Status::closed);
  EXPECT_EQ(out.push(message_of(3)), Status::closed);
  EXPECT_EQ(out.try_claim(place), Status::closed);
  std::vector<Item> items(2);
  EXPECT_EQ(out.try_push_batch(items), 0U);
  Item item{};
  EXPECT_EQ(in.pop(item), Status::ok);
  EXPECT_EQ(in.pop(item), Status::ok);
  EXPECT_EQ(item.number, 2U);
  EXPECT_EQ(in.pop(item), Status::closed);
  EXPECT_EQ(in.try_pop(item), Status::closed);
  EXPECT_FALSE(in.damaged());
}

TEST(SharedRing, APublicationBehindTheEndIsRefusedAndNeverSeen) {
  MadeRing made(4);
  Ring::Producer out(made.ring);
  Item* place = nullptr;
  ASSERT_EQ(out.try_claim(place), Status::ok);
  made.ring.close();
  Item item{};
  {
    Ring::Consumer in(made.ring);
    EXPECT_EQ(in.try_pop(item), Status::closed);
    EXPECT_EQ(out.publish(), Status::closed);
    EXPECT_EQ(in.try_pop(item), Status::closed);
    EXPECT_EQ(in.consume([](const Item&) {}), 0U);
  }
  Ring::Consumer successor(made.ring);
  EXPECT_EQ(successor.try_pop(item), Status::closed);
  EXPECT_EQ(successor.consume([](const Item&) {}), 0U);
}

TEST(SharedRing, WaitsEndByTimeAndByStop) {
  MadeRing made(1);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  Item item{};
  EXPECT_EQ(in.pop(item, 1ms), Status::timed_out);
  EXPECT_EQ(in.pop(item, 0ms), Status::timed_out);
  ASSERT_EQ(out.push(message_of(1)), Status::ok);
  EXPECT_EQ(out.push(message_of(2), 1ms), Status::timed_out);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(2ms);
    stop.request_stop();
  });
  EXPECT_EQ(out.push(message_of(2), stop.get_token()), Status::stopped);
  EXPECT_EQ(out.push(message_of(2), stop.get_token()), Status::stopped);
  EXPECT_EQ(in.pop(item, stop.get_token()), Status::ok) << "what is there comes first";
  EXPECT_EQ(in.pop(item, stop.get_token()), Status::stopped);
}

// As a consumer that is mad would say.
TEST(SharedRing, AHeadBeyondTheTailIsDamage) {
  MadeRing made(4);
  Ring::Producer late(made.ring);
  Ring::Producer out(made.ring);
  Ring::Consumer in(made.ring);
  Item item{};
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_EQ(out.try_push(message_of(i)), Status::ok);
    ASSERT_EQ(in.try_pop(item), Status::ok);
  }
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(late.try_push(message_of(i)), Status::ok);
  EXPECT_EQ(late.try_push(message_of(4)), Status::closed);
  EXPECT_TRUE(late.damaged());
}

TEST(SharedRing, WhatCannotBeIsRefused) {
  EXPECT_THROW((void)Ring::bytes_for(0), std::logic_error);
  EXPECT_THROW((void)Ring::bytes_for(~std::size_t{0}), std::length_error);
  EXPECT_THROW((void)Ring::bytes_for(~std::size_t{0} / 16), std::length_error);
  const CommonPages pages(Ring::bytes_for(8));
  EXPECT_THROW(Ring::create(pages.bytes(), 16), std::length_error);
  EXPECT_THROW(Ring::create(pages.bytes().subspan(8), 2), std::invalid_argument);
  EXPECT_THROW(Ring::attach(pages.bytes()), std::system_error) << "nothing was made yet";
  (void)Ring::create(pages.bytes(), 8);
  (void)Ring::attach(pages.bytes());
  EXPECT_THROW(Ring::attach(pages.bytes().first(pages.bytes().size() - 1)), std::system_error);
  EXPECT_THROW(Ring::attach(pages.bytes().first(8)), std::system_error);
  EXPECT_THROW(Ring::attach({}), std::system_error);
  EXPECT_THROW(SharedRing<std::uint64_t>::attach(pages.bytes()), std::system_error);
  struct alignas(256) Wide {
    std::byte bytes[16];
  };
  EXPECT_THROW(SharedRing<Wide>::attach(pages.bytes()), std::system_error);
}

// --- Between processes. ---

bool push_to_ring(Ring ring, std::uint64_t count) {
  Ring::Producer out(ring);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (out.push(message_of(i)) != Status::ok) return false;
  }
  ring.close();
  return true;
}

void expect_of_ring(Ring ring, std::uint64_t count) {
  Ring::Consumer in(ring);
  Item item{};
  std::uint64_t next = 0;
  std::uint64_t wrong = 0;
  while (in.pop(item, 20s) == Status::ok) wrong += item.number != next++ || !is_whole(item);
  EXPECT_EQ(next, count);
  EXPECT_EQ(wrong, 0U);
  EXPECT_TRUE(ring.closed());
}

TEST(SharedRing, EachMessageOnceAndInOrderBetweenProcesses) {
  const std::uint64_t count = test::rounds(100'000);
  for (const std::size_t capacity : {1U, 2U, 64U, 4096U}) {
    MadeRing made(capacity);
    const std::uint64_t messages = capacity < 64 ? count / 10 : count;
    ForkedChild child([&] { return push_to_ring(Ring::attach(made.pages.bytes()), messages); });
    expect_of_ring(made.ring, messages);
    EXPECT_TRUE(child.succeeded());
  }
}

TEST(SharedRing, AnItemWakesASleepingProcess) {
  MadeRing made(4);
  ForkedChild child([&] {
    Ring::Consumer in(Ring::attach(made.pages.bytes()));
    Item item{};
    return in.pop(item) == Status::ok && item.number == 5 && in.pop(item) == Status::closed;
  });
  child.wait_until_asleep();
  Ring::Producer out(made.ring);
  EXPECT_EQ(out.push(message_of(5)), Status::ok);
  child.wait_until_asleep();
  made.ring.close();
  EXPECT_TRUE(child.succeeded());
}

std::uint32_t looks_of(detail::BellSpin spin) {
  std::uint32_t looks = 1;
  while (spin.again()) ++looks;
  return looks;
}

TEST(SharedRing, AWaitAfterALongSleepSpinsLittle) {
  detail::BellPatience patience;
  const std::uint32_t fresh = looks_of(patience.spin());
  if (sync::shared_spin_policy() == sync::Spin::never) {
    EXPECT_EQ(fresh, 1U);
    return;
  }
  EXPECT_GT(fresh, 100U);
  patience.slept(1s);
  EXPECT_GT(looks_of(patience.spin()), 1U);
  EXPECT_LT(looks_of(patience.spin()), fresh / 2);
  EXPECT_LT(looks_of(patience.spin()), fresh / 2) << "as long as no sleep says something else";
  patience.slept(1us);
  EXPECT_EQ(looks_of(patience.spin()), fresh);
}

TEST(SharedRing, APlaceWakesASleepingProcess) {
  MadeRing made(1);
  ForkedChild child([&] {
    Ring::Producer out(Ring::attach(made.pages.bytes()));
    return out.push(message_of(1)) == Status::ok && out.push(message_of(2)) == Status::ok &&
           out.push(message_of(3)) == Status::closed;
  });
  Ring::Consumer in(made.ring);
  child.wait_until_asleep();
  Item item{};
  EXPECT_EQ(in.pop(item, 20s), Status::ok);
  child.wait_until_asleep();
  made.ring.close();
  EXPECT_TRUE(child.succeeded());
}

// Whatever the other one may have missed, such a sleeper looks again soon.
TEST(SharedRing, ASleeperWhoseFenceTheKernelRefusesNaps) {
  MadeRing made(1);
  ForkedChild child([&] {
    Ring::Consumer in(made.ring);
    test::refuse_membarrier();
    Item item{};
    return in.pop(item) == Status::ok && in.pop(item) == Status::ok &&
           in.pop(item) == Status::closed;
  });
  Ring::Producer out(made.ring);
  for (std::uint64_t i = 0; i < 2; ++i) {
    child.wait_until_asleep();
    EXPECT_EQ(out.push(message_of(i)), Status::ok);
  }
  child.wait_until_asleep();
  made.ring.close();
  EXPECT_TRUE(child.succeeded());
}

// Each futex call would be the end of the process that makes it.
TEST(SharedRing, NoSystemCallWhileTheOtherIsAwake) {
  MadeRing made(64);
  const std::uint64_t count = test::rounds(100'000);
  ForkedChild child([&] {
    Ring::Producer out(made.ring);
    test::forbid_futexes();
    for (std::uint64_t i = 0; i < count;) {
      const Status said = out.try_push(message_of(i));
      if (said == Status::closed) return false;
      if (said == Status::ok) {
        ++i;
      } else {
        ::sched_yield();
      }
    }
    return true;
  });
  ForkedChild other([&] {
    Ring::Consumer in(made.ring);
    test::forbid_futexes();
    for (std::uint64_t next = 0; next < count;) {
      Item item{};
      const Status said = in.try_pop(item);
      if (said == Status::closed || (said == Status::ok && item.number != next++)) return false;
      if (said != Status::ok) ::sched_yield();
    }
    return true;
  });
  EXPECT_TRUE(child.succeeded());
  EXPECT_TRUE(other.succeeded());
}

TEST(SharedRing, AKilledProducerLeavesWholeItemsAndASuccessorGoesOn) {
  for (std::size_t round = 0; round < test::rounds(20); ++round) {
    MadeRing made(8);
    ForkedChild child([&] { return push_to_ring(made.ring, ~std::uint64_t{0}); });
    Ring::Consumer in(made.ring);
    Item item{};
    std::uint64_t next = 0;
    const auto expect_next = [&] {
      EXPECT_EQ(item.number, next++);
      EXPECT_TRUE(is_whole(item));
    };
    for (std::size_t i = 0; i < 50 * round; ++i) {
      ASSERT_EQ(in.pop(item, 20s), Status::ok);
      expect_next();
    }
    child.kill();
    while (in.try_pop(item) == Status::ok) expect_next();
    Ring::Producer successor(made.ring);
    made.ring.recovered();
    ASSERT_EQ(successor.push(message_of(next)), Status::ok);
    made.ring.producer_died();
    ASSERT_EQ(in.pop(item), Status::ok);
    expect_next();
    EXPECT_EQ(in.pop(item), Status::closed);
  }
}

TEST(SharedRing, AKilledConsumerBlocksNobody) {
  MadeRing made(2);
  ForkedChild child([&] {
    Ring::Consumer in(made.ring);
    const Item* item = nullptr;
    if (in.peek(item) != Status::ok) return false;
    for (;;) ::pause();
  });
  Ring::Producer out(made.ring);
  ASSERT_EQ(out.push(message_of(0)), Status::ok);
  ASSERT_EQ(out.push(message_of(1)), Status::ok);
  EXPECT_EQ(out.push(message_of(2), 1ms), Status::timed_out);
  child.kill();
  {
    Ring::Consumer successor(made.ring);
    Item item{};
    ASSERT_EQ(successor.try_pop(item), Status::ok);
    EXPECT_EQ(item.number, 0U) << "peeked and not released";
    EXPECT_EQ(out.push(message_of(2)), Status::ok);
  }
  std::jthread owner([&] {
    std::this_thread::sleep_for(2ms);
    made.ring.consumer_died();
  });
  EXPECT_EQ(out.push(message_of(3)), Status::closed);
}

// --- What others may write there. ---

// Whatever lies in the memory: nothing outside is touched, nothing hangs. Some bytes of a whole
// ring are changed, or all of them; before the ends are made, or later.
TEST(SharedRing, RandomImagesAreRefusedOrSurvived) {
  auto random = test::random();
  MadeRing made(4);
  const std::span<std::byte> bytes = made.pages.bytes();
  const std::vector<std::byte> whole(bytes.begin(), bytes.end());
  const auto spoil = [&] { test::spoil(bytes, random); };
  const auto use = [&] {
    Ring ring = Ring::attach(bytes);
    Ring::Producer out(ring);
    Ring::Consumer in(ring);
    Item item{};
    Item* place = nullptr;
    const Item* front = nullptr;
    std::vector<Item> items(5);
    for (int i = 0; i < 3; ++i) {
      spoil();
      (void)out.try_push(item);
      if (out.try_claim(place) == Status::ok) *place = item;
      (void)out.publish();
      (void)out.try_push_batch(items);
      spoil();
      (void)in.try_pop(item);
      if (in.try_peek(front) == Status::ok) item = *front;
      in.release();
      (void)in.try_pop_batch(items);
      std::size_t count = in.consume([&](const Item& next) { item = next; });
      EXPECT_LE(count, ring.capacity());
      EXPECT_LE(ring.size(), ring.capacity());
    }
    ring.close();
    int pops = 0;
    while (in.try_pop(item) == Status::ok && pops < 9) ++pops;
    EXPECT_LE(pops, 8);
    return in.damaged() || out.damaged();
  };
  std::size_t refused = 0;
  std::size_t damaged = 0;
  const std::size_t images = test::images();
  for (std::size_t i = 0; i < images; ++i) {
    std::copy(whole.begin(), whole.end(), bytes.begin());
    if (i % 4 == 0) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      if (i % 8 == 0) std::copy_n(whole.begin(), 128, bytes.begin());
    } else {
      spoil();
    }
    try {
      damaged += use();
    } catch (const std::system_error&) {
      ++refused;
    }
  }
  EXPECT_NE(refused, 0U);
  EXPECT_NE(damaged, 0U);
  EXPECT_LT(refused + damaged, images);
}

}  // namespace

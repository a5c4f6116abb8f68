// SPDX-License-Identifier: MIT
//
// SharedRing: batches, an end among what is claimed, and how long a wait spins. The rest is in
// shared_rings_test.cpp.
#include <handoff/process/detail/bell_patience.hpp>

#include "forked.hpp"
#include "shared_item.hpp"
#include "support/test.hpp"

namespace shared_ring_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

using Item = test::Message;
using Ring = SharedRing<Item>;

static_assert(std::is_copy_constructible_v<Ring>);
static_assert(!std::is_copy_constructible_v<Ring::Producer>);
static_assert(!std::is_move_constructible_v<Ring::Consumer>);

using MadeRing = RingInPages<Ring>;

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
  made.ring.close();
  EXPECT_EQ(out.try_push_batch(items), 0U);
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
  EXPECT_THROW(Ring::attach(pages.bytes().first(pages.bytes().size() - 128)), std::system_error);
  EXPECT_THROW(Ring::attach(pages.bytes().first(8)), std::system_error);
  EXPECT_THROW(Ring::attach({}), std::system_error);
  EXPECT_THROW(SharedRing<std::uint64_t>::attach(pages.bytes()), std::system_error);
  struct alignas(256) Wide {
    std::byte bytes[16];
  };
  EXPECT_THROW(SharedRing<Wide>::attach(pages.bytes()), std::system_error);
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

// How many looks until one comes after a yield; 0: no yield was short.
std::uint32_t looks_to_a_yield(detail::BellSpin& spin) {
  for (std::uint32_t looks = 0; spin.again();) {
    ++looks;
    if (spin.yielded()) return looks;
  }
  return 0;
}

TEST(SharedRing, AWaitYieldsEarlyAfterOneThatAYieldHasEnded) {
  detail::BellPatience patience;
  if (!patience.spin().again()) GTEST_SKIP() << "nobody spins on this machine";
  std::uint32_t early = 0;
  for (int tries = 0; early == 0 && tries < 1000; ++tries) {  // strangers make yields long
    patience.found(detail::BellSpin(1, 0));
    detail::BellSpin late = patience.spin();
    ASSERT_GT(looks_to_a_yield(late), 500U);
    patience.found(late);
    detail::BellSpin next = patience.spin();
    early = looks_to_a_yield(next);
  }
  EXPECT_GT(early, 1U) << "one that answers from another CPU is found by pauses";
  EXPECT_LT(early, 100U);
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

}}  // namespace shared_ring_test

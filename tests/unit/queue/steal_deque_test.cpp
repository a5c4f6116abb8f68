// SPDX-License-Identifier: MIT
//
// StealDeque: both ends, growth, the seam of its positions, and thieves against the owner.
#include "support/failing.hpp"
#include "support/started_at.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

void push(StealDeque<std::size_t>& deque, std::size_t item) {
  deque.reserve();
  deque.push(item);
}

TEST(StealDeque, TheOwnerTakesTheNewestAThiefTheOldest) {
  StealDeque<std::size_t> deque(4);
  for (std::size_t i = 1; i <= 4; ++i) push(deque, i);
  std::size_t item = 0;
  ASSERT_EQ(deque.pop(item), Status::ok);
  EXPECT_EQ(item, 4U);
  ASSERT_EQ(deque.steal(item), Status::ok);
  EXPECT_EQ(item, 1U);
  ASSERT_EQ(deque.steal(item), Status::ok);
  EXPECT_EQ(item, 2U);
  ASSERT_EQ(deque.pop(item), Status::ok);
  EXPECT_EQ(item, 3U);
  item = 77;
  EXPECT_EQ(deque.pop(item), Status::empty);
  EXPECT_EQ(deque.steal(item), Status::empty);
  EXPECT_EQ(item, 77U) << "empty leaves the place alone";
  EXPECT_TRUE(deque.empty());
}

TEST(StealDeque, AThiefMayLookBeforeItTakes) {
  StealDeque<std::size_t> deque(4);
  std::size_t item = 77;
  int asked = 0;
  EXPECT_EQ(deque.steal_if(item, [&asked] { return ++asked == 0; }), Status::empty);
  EXPECT_EQ(asked, 0) << "there is nothing to ask of";
  push(deque, 1);
  push(deque, 2);
  EXPECT_EQ(deque.steal_if(item, [&asked] { return ++asked == 0; }), Status::empty);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(item, 77U) << "a no leaves both alone";
  ASSERT_EQ(deque.steal_if(item, [] { return true; }), Status::ok);
  EXPECT_EQ(item, 1U);
  ASSERT_EQ(deque.pop(item), Status::ok);
  EXPECT_EQ(item, 2U);
}

TEST(StealDeque, GrowsAndKeepsTheOrderAlsoAcrossTheSeam) {
  for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0} - 2}) {
    test::StartedAt<StealDeque<std::size_t>> deque(2, start);
    for (std::size_t i = 0; i < 100; ++i) push(deque, i);
    std::size_t item = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      ASSERT_EQ(deque.steal(item), Status::ok);
      ASSERT_EQ(item, i);
      ASSERT_EQ(deque.pop(item), Status::ok);
      ASSERT_EQ(item, 99 - i);
    }
    EXPECT_EQ(deque.pop(item), Status::empty);
  }
}

TEST(StealDeque, GrowsOnlyForWhatHasNoRoomAndOnceForIt) {
  StealDeque<std::size_t> deque(4);
  const auto allocations = [before = test::calls(test::Call::allocation)] {
    return test::calls(test::Call::allocation) - before;
  };
  std::size_t item = 0;
  for (std::size_t i = 0; i < 4; ++i) push(deque, i);
  for (std::size_t i = 0; i < 100; ++i) {  // there is always room for one, if not for two
    ASSERT_EQ(deque.steal(item), Status::ok);
    ASSERT_EQ(item, i);
    push(deque, i + 4);
  }
  EXPECT_EQ(allocations(), 0U);
  push(deque, 104);
  EXPECT_EQ(allocations(), 2U) << "an array, and what holds it";
  deque.reserve(3);
  EXPECT_EQ(allocations(), 2U) << "twice the room";
  deque.reserve(4 + 8);
  EXPECT_EQ(allocations(), 6U) << "twice that, and again";
  for (std::size_t i = 100; i <= 104; ++i) {
    ASSERT_EQ(deque.steal(item), Status::ok);
    ASSERT_EQ(item, i);
  }
}

TEST(StealDeque, AFailedReserveChangesNothing) {
  StealDeque<std::size_t> deque(1);
  push(deque, 1);
  const int places = test::until_whole(test::Call::allocation, 0, [&] {
    try {
      deque.reserve(2);
    } catch (const std::bad_alloc&) {
      std::size_t item = 0;
      EXPECT_EQ(deque.pop(item), Status::ok);
      EXPECT_EQ(item, 1U);
      deque.push(item);
    }
  });
  EXPECT_GE(places, 2);
  std::size_t item = 0;
  EXPECT_EQ(deque.pop(item), Status::ok);
}

TEST(StealDeque, HeightTellsWhatWasPushedSince) {
  StealDeque<std::size_t> deque(8);
  push(deque, 1);
  const auto before = deque.height();
  push(deque, 2);
  std::size_t item = 0;
  EXPECT_EQ(deque.steal(item), Status::ok);
  EXPECT_GT(deque.height(), before);
  EXPECT_EQ(deque.pop(item), Status::ok);
  EXPECT_LE(deque.height(), before + 1);
}

// Every item is taken by exactly one; no failure among n items bounds the rate of wrong ones below
// 3/n (95 %).
TEST(StealDeque, ThievesAndOwnerTakeEachItemOnce) {
  auto random = test::random();
  const std::size_t items = test::rounds(400'000);
  StealDeque<std::size_t> deque(2);
  std::vector<std::atomic<unsigned char>> taken(items);
  std::atomic<bool> over{false};
  test::Crew thieves(3, [&] {
    std::size_t item = 0;
    for (;;) {
      const bool last_look = over;
      if (deque.steal(item) == Status::ok) {
        taken[item].fetch_add(1, std::memory_order_relaxed);
      } else if (last_look) {
        return;
      }
    }
  });
  std::size_t item = 0;
  for (std::size_t next = 0; next < items;) {
    for (std::size_t i = random() % 20; i > 0 && next < items; --i) push(deque, next++);
    for (std::size_t i = random() % 20; i > 0; --i) {
      if (deque.pop(item) != Status::ok) break;
      taken[item].fetch_add(1, std::memory_order_relaxed);
    }
  }
  while (deque.pop(item) == Status::ok) taken[item].fetch_add(1, std::memory_order_relaxed);
  over = true;
  thieves.join();
  for (std::size_t i = 0; i < items; ++i) ASSERT_EQ(taken[i], 1) << "item " << i;
}

}  // namespace

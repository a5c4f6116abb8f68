// SPDX-License-Identifier: MIT
//
// atomic and cell: the names do what std::atomic's do, and cost nothing.
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff::sync;

static_assert(sizeof(atomic<std::uint8_t>) == 1 && sizeof(atomic<std::uint64_t>) == 8);
static_assert(sizeof(cell<int>) == sizeof(int) && sizeof(raw_cell<int>) == sizeof(int));
static_assert(!std::is_copy_constructible_v<atomic<int>>);
static_assert(!std::is_convertible_v<atomic<int>, int>);
static_assert(alignof(raw_cell<std::max_align_t>) == alignof(std::max_align_t));

TEST(Atomic, EachMemberDoesWhatItsNameSays) {
  atomic<std::uint32_t> a(0b1100);
  EXPECT_EQ(a.fetch_or(0b0011, order::relaxed), 0b1100U);   // order: relaxed, one thread
  EXPECT_EQ(a.fetch_and(0b0110, order::relaxed), 0b1111U);  // order: relaxed, one thread
  EXPECT_EQ(a.fetch_xor(0b0101, order::relaxed), 0b0110U);  // order: relaxed, one thread
  EXPECT_EQ(a.fetch_add(2, order::relaxed), 0b0011U);       // order: relaxed, one thread
  EXPECT_EQ(a.fetch_sub(1, order::relaxed), 5U);            // order: relaxed, one thread
  EXPECT_EQ(a.exchange(9, order::relaxed), 4U);             // order: relaxed, one thread
  a.store(10, order::relaxed);                              // order: relaxed, one thread
  EXPECT_EQ(a.load(order::relaxed), 10U);                   // order: relaxed, one thread
}

TEST(Atomic, CompareExchangeTellsWhatWasThere) {
  atomic<int> a(1);
  int expected = 2;
  // order: relaxed, one thread.
  EXPECT_FALSE(a.compare_exchange_strong(expected, 3, order::relaxed, order::relaxed));
  EXPECT_EQ(expected, 1);
  // order: relaxed, one thread.
  EXPECT_TRUE(a.compare_exchange_strong(expected, 3, order::relaxed, order::relaxed));
  expected = 3;
  // order: relaxed, one thread; the weak form may fail for no reason, so again until it does.
  while (!a.compare_exchange_weak(expected, 4, order::relaxed, order::relaxed)) {
    ASSERT_EQ(expected, 3);
  }
  EXPECT_EQ(expected, 3) << "what was there";
  EXPECT_EQ(a.load(order::relaxed), 4);  // order: relaxed, one thread
}

TEST(Cell, ReadsWhatWasWritten) {
  cell<int> c(1);
  EXPECT_EQ(c.read(), 1);
  c.write() = 2;
  EXPECT_EQ(c.read(), 2);
  EXPECT_EQ(cell<int>().read(), 0);
}

TEST(RawCell, LivesFromConstructToDestroyOnly) {
  auto watched = std::make_shared<int>(7);
  {
    raw_cell<std::shared_ptr<int>> c;  // neither made nor destroyed by the cell itself
    EXPECT_EQ(*c.construct(watched), 7);
    EXPECT_EQ(watched.use_count(), 2);
    c.write().reset();
    EXPECT_EQ(watched.use_count(), 1);
    c.destroy();
    c.construct(watched);
    EXPECT_EQ(*c.read(), 7);
    c.destroy();
    EXPECT_EQ(watched.use_count(), 1);
  }
  EXPECT_EQ(watched.use_count(), 1);
}

}  // namespace

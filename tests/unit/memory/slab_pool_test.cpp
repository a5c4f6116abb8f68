// SPDX-License-Identifier: MIT
//
// The pool of chunks: which chunk comes next, what stays in one that is free, and what goes back to
// the system, when it is asked for and when it was not needed for a while.
#include "books/slab_books.hpp"
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::detail;
using test::fault_in;
using Book = detail::Books<detail::SlabPool>;

constexpr std::size_t kInASlab = kChunks - 1;  // the first one is the slab's own

std::uintptr_t slab_of(const void* chunk) {
  const auto address = reinterpret_cast<std::uintptr_t>(chunk);
  return address - address % kSlabBytes;
}

// How many of its pages the system has given it memory for. Not of a chunk whose slab has gone: an
// allocator may write something there.
std::size_t pages(void* chunk) {
  std::array<unsigned char, kChunkBytes / 4096> there{};
  EXPECT_EQ(::mincore(chunk, kChunkBytes, there.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(there.begin(), there.end(), [](unsigned char page) { return page % 2 != 0; }));
}

// A pool of the test's own. What is taken is written to, all of it, with its own address.
class SlabPool : public testing::Test {
 protected:
  ~SlabPool() override {
    give_all();
    pool_.end();
    EXPECT_EQ(fault_in(pool_), "");
    EXPECT_EQ(Book::slabs(pool_), 0U) << "at the end all of it goes back";
  }

  void* take() {
    void* const chunk = pool_.take();
    EXPECT_TRUE(taken_.insert(chunk).second) << "one that somebody has";
    const auto address = reinterpret_cast<std::uintptr_t>(chunk);
    EXPECT_EQ(address % kChunkBytes, 0U);
    EXPECT_NE(address % kSlabBytes, 0U) << "the slab's own";
    std::memset(static_cast<std::byte*>(chunk) + sizeof(ChunkLayout), 0x5a,
                kChunkBytes - sizeof(ChunkLayout));
    return chunk;
  }
  std::vector<void*> take(std::size_t count) {
    std::vector<void*> chunks;
    for (std::size_t i = 0; i < count; ++i) chunks.push_back(take());
    return chunks;
  }
  void give(void* chunk) {
    EXPECT_EQ(taken_.erase(chunk), 1U);
    pool_.give(chunk);
  }
  void give_all() {
    while (!taken_.empty()) give(*taken_.begin());
  }
  // One chunk comes and goes so many times.
  void turn_over(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) give(take());
  }
  std::size_t slabs() const { return Book::slabs(pool_); }

  detail::SlabPool pool_;
  std::set<void*> taken_;
};

TEST_F(SlabPool, TakesTheLowestThatIsFree) {
  auto chunks = take(3 * kInASlab);
  EXPECT_EQ(slabs(), 3U);
  std::set<std::uintptr_t> slabs_seen;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    slabs_seen.insert(slab_of(chunks[i]));
    if (i % kInASlab != 0) {
      EXPECT_EQ(static_cast<std::byte*>(chunks[i]),
                static_cast<std::byte*>(chunks[i - 1]) + kChunkBytes);
    }
  }
  EXPECT_EQ(slabs_seen.size(), 3U);
  EXPECT_EQ(fault_in(pool_), "");
  std::mt19937 random(static_cast<unsigned>(test::seed()));
  std::set<void*> free;
  for (int round = 0; round < 2000; ++round) {
    if (free.empty() || (random() % 2 == 0 && !taken_.empty())) {
      auto at = taken_.begin();
      std::advance(at, random() % taken_.size());
      free.insert(*at);
      give(*at);
    } else {
      EXPECT_EQ(take(), *free.begin());
      free.erase(free.begin());
    }
    ASSERT_EQ(fault_in(pool_), "");
    ASSERT_EQ(Book::in_use(pool_), taken_.size());
  }
}

// The system mostly gives addresses from above to below; not where a hole is above.
TEST_F(SlabPool, ASlabMayLieBehindTheOthers) {
  constexpr std::size_t kHole = 16 * kSlabBytes;
  void* const hole =
      ::mmap(nullptr, kHole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  take(2 * kInASlab);
  ASSERT_EQ(::munmap(hole, kHole), 0);
  take(kInASlab);
  EXPECT_EQ(slabs(), 3U);
  EXPECT_EQ(fault_in(pool_), "");
  const std::vector<void*> in_order(taken_.begin(), taken_.end());
  give_all();
  for (void* const chunk : in_order) EXPECT_EQ(take(), chunk);
}

TEST_F(SlabPool, ASlabIsMadeWhenAllAreFull) {
  take(kInASlab);
  EXPECT_EQ(slabs(), 1U);
  void* const first = *taken_.begin();
  give(first);
  EXPECT_EQ(take(), first);
  EXPECT_EQ(slabs(), 1U);
  take();
  EXPECT_EQ(slabs(), 2U);
  EXPECT_EQ(fault_in(pool_), "");
}

TEST_F(SlabPool, AChunkKeepsWhatItWasMadeAs) {
  void* const chunk = take();
  auto* const layout = static_cast<ChunkLayout*>(chunk);
  EXPECT_EQ(layout->made_as, 0U) << "nothing yet";
  layout->made_as = 7;
  give(chunk);
  EXPECT_EQ(take(), chunk);
  EXPECT_EQ(layout->made_as, 7U);
  EXPECT_EQ(pages(chunk), kChunkBytes / 4096);
  give(chunk);
  take(3);
  give_all();
  EXPECT_EQ(take(), chunk);
  EXPECT_EQ(layout->made_as, 7U);
}

TEST_F(SlabPool, TrimmingLeavesWhatIsInUse) {
  auto chunks = take(kInASlab + 5);
  for (void* const chunk : chunks) static_cast<ChunkLayout*>(chunk)->made_as = 7;
  // Of the first slab three stay in use, of the second none.
  const std::set<void*> kept{chunks[0], chunks[64], chunks[kInASlab - 1]};
  for (void* const chunk : chunks) {
    if (!kept.contains(chunk)) give(chunk);
  }
  EXPECT_EQ(slabs(), 2U);
  pool_.trim();
  EXPECT_EQ(fault_in(pool_), "");
  EXPECT_EQ(slabs(), 1U) << "a slab that nobody uses goes, with its addresses";
  EXPECT_EQ(Book::in_use(pool_), 3U);
  for (std::size_t i = 0; i < kInASlab; ++i) {
    EXPECT_EQ(pages(chunks[i]), kept.contains(chunks[i]) ? kChunkBytes / 4096 : 0U);
    if (kept.contains(chunks[i])) {
      EXPECT_EQ(static_cast<ChunkLayout*>(chunks[i])->made_as, 7U);
    }
  }
  for (std::size_t i = 1; i < 64; ++i) {
    EXPECT_EQ(take(), chunks[i]);
    EXPECT_EQ(static_cast<ChunkLayout*>(chunks[i])->made_as, 0U) << "nothing any more";
  }
  pool_.trim();
  pool_.trim();
  EXPECT_EQ(Book::in_use(pool_), 66U);
  take(kInASlab - 66);
  EXPECT_EQ(slabs(), 1U);
  take();
  EXPECT_EQ(slabs(), 2U);
}

// What was free all the time while the chunks could have been taken four times each goes back; so
// many takings are the least.
TEST_F(SlabPool, WhatIsNotNeededForLongGoesBack) {
  auto chunks = take(3 * kInASlab);
  give_all();
  turn_over(2 * 4 * 3 * kInASlab);
  EXPECT_EQ(fault_in(pool_), "");
  EXPECT_EQ(slabs(), 1U);
  const auto left = slab_of(*std::min_element(chunks.begin(), chunks.end()));  // by its address
  std::size_t there = 0;
  for (void* const chunk : chunks) {
    if (slab_of(chunk) == left && pages(chunk) != 0) ++there;
  }
  EXPECT_LE(there, 1U) << "all but the one that was needed";
}

TEST_F(SlabPool, WhatIsNeededNowAndThenStays) {
  take(3 * kInASlab);
  give_all();
  turn_over(2 * 4 * 3 * kInASlab);
  const std::size_t needed = 2 * kInASlab;
  take(needed);
  give_all();
  for (int round = 0; round < 50; ++round) {
    const auto some = take(needed);
    for (void* const chunk : some) {
      if (round > 2) {
        EXPECT_EQ(static_cast<ChunkLayout*>(chunk)->made_as, 7U) << round;
      }
      static_cast<ChunkLayout*>(chunk)->made_as = 7;
    }
    EXPECT_EQ(slabs(), 2U);
    give_all();
    turn_over(20);
  }
  EXPECT_EQ(slabs(), 2U);
}

// Part of a slab: what was needed at most stays, in the order of taking.
TEST_F(SlabPool, AsManyGoBackAsWereNeverNeeded) {
  const auto chunks = take(kInASlab);
  for (void* const chunk : chunks) static_cast<ChunkLayout*>(chunk)->made_as = 7;
  give_all();
  // Two whole spans between two looks, in which never more than 40 are taken at a time.
  for (int round = 0; round < 2 * 1024 / 40 + 2; ++round) {
    take(40);
    give_all();
  }
  for (std::size_t i = 0; i < kInASlab; ++i) {
    EXPECT_EQ(pages(chunks[i]), i < 40 ? kChunkBytes / 4096 : 0U) << i;
    if (i < 40) {
      EXPECT_EQ(static_cast<ChunkLayout*>(chunks[i])->made_as, 7U);
    }
  }
  EXPECT_EQ(slabs(), 1U);
  EXPECT_EQ(fault_in(pool_), "");
}

TEST_F(SlabPool, NothingGoesBackBeforeThatMuchWasTaken) {
  const auto chunks = take(3 * kInASlab);
  give_all();
  turn_over(1000 - 3 * kInASlab);
  EXPECT_EQ(slabs(), 3U);
  for (void* const chunk : chunks) EXPECT_EQ(pages(chunk), kChunkBytes / 4096);
}

TEST_F(SlabPool, AfterTheEndNothingIsKept) {
  const auto chunks = take(2 * kInASlab);
  give(chunks[5]);
  EXPECT_EQ(pages(chunks[5]), kChunkBytes / 4096);
  pool_.end();
  EXPECT_EQ(pages(chunks[5]), 0U);
  EXPECT_EQ(slabs(), 2U);
  give(chunks[7]);
  EXPECT_EQ(pages(chunks[7]), 0U) << "at once";
  EXPECT_EQ(pages(chunks[8]), kChunkBytes / 4096);
  for (std::size_t i = 0; i < kInASlab; ++i) {
    if (taken_.contains(chunks[i])) give(chunks[i]);
  }
  EXPECT_EQ(slabs(), 1U) << "a slab that nobody uses goes at once";
  EXPECT_EQ(fault_in(pool_), "");
}

TEST_F(SlabPool, WithoutMemoryItStaysAsItWas) {
  take(kInASlab);
  test::fail_after(test::Call::allocation, 0, 0);
  EXPECT_THROW((void)pool_.take(), std::bad_alloc);
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
  EXPECT_EQ(fault_in(pool_), "");
  EXPECT_EQ(Book::in_use(pool_), kInASlab);
  EXPECT_EQ(slabs(), 1U);
  take();
  EXPECT_EQ(slabs(), 2U);
}

TEST_F(SlabPool, MarksFindTheFirst) {
  detail::Marks marks;
  EXPECT_EQ(marks.first(), kChunks);
  EXPECT_EQ(marks.count(), 0U);
  for (const std::size_t index : {127U, 64U, 63U, 1U}) {
    EXPECT_FALSE(marks.has(index));
    marks.set(index);
    EXPECT_TRUE(marks.has(index));
    EXPECT_EQ(marks.first(), index);
  }
  EXPECT_EQ(marks.count(), 4U);
  marks.clear(1);
  marks.clear(1);
  EXPECT_EQ(marks.first(), 63U);
  marks.clear(63);
  EXPECT_EQ(marks.first(), 64U);
  EXPECT_EQ(marks.count(), 2U);
}

}  // namespace
